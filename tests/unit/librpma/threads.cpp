// SPDX-License-Identifier: BSD-3-Clause
// What the library itself shares between threads. The fakes are not thread-safe, so these tests
// keep to what does not reach them, or reach them under a lock. For use under ThreadSanitizer above
// all.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <regex>
#include <thread>

#include "harness.hpp"

namespace {

constexpr int kRounds = 2000;

void count_line(rpma_log_level, const char*, const int, const char*, const char*, ...);
std::atomic<int> counted{0};
void count_line(rpma_log_level, const char*, const int, const char*, const char*, ...) {
    ++counted;
}

void run(std::initializer_list<std::function<void(int)>> bodies) {
    std::vector<std::thread> threads;
    for (const auto& body : bodies) {
        threads.emplace_back([body] {
            for (int i = 0; i < kRounds; ++i) {
                body(i);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

void the_log_function_can_change_while_logging(void**) {
    rpma_log_set_function(count_line);
    run({[](int) { (void)rpma_peer_delete(nullptr); }, [](int) { (void)rpma_conn_delete(nullptr); },
         [](int i) {
             rpma_log_set_threshold(RPMA_LOG_THRESHOLD,
                                    i % 2 != 0 ? RPMA_LOG_LEVEL_ERROR : RPMA_LOG_DISABLED);
             rpma_log_set_function(count_line);
         }});
    assert_true(counted > 0);
}

void configurations_can_be_shared(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_srq* srq[2] = {};
    EXPECT_OK(rpma_srq_new(peer, nullptr, &srq[0]));
    EXPECT_OK(rpma_srq_new(peer, nullptr, &srq[1]));
    rpma_conn_cfg* cfg = nullptr;
    EXPECT_OK(rpma_conn_cfg_new(&cfg));
    rpma_peer_cfg* pcfg = nullptr;
    EXPECT_OK(rpma_peer_cfg_new(&pcfg));
    const auto write = [&](int i) {
        (void)rpma_conn_cfg_set_timeout(cfg, i);
        (void)rpma_conn_cfg_set_cq_size(cfg, static_cast<uint32_t>(i));
        (void)rpma_conn_cfg_set_srq(cfg, srq[i % 2]);
        (void)rpma_peer_cfg_set_direct_write_to_pmem(pcfg, i % 2 != 0);
    };
    const auto read = [&](int) {
        int timeout = 0;
        uint32_t size = 0;
        bool direct = false;
        rpma_srq* got = nullptr;
        (void)rpma_conn_cfg_get_timeout(cfg, &timeout);
        (void)rpma_conn_cfg_get_cq_size(cfg, &size);
        (void)rpma_conn_cfg_get_srq(cfg, &got);
        (void)rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &direct);
    };
    run({write, write, read, read});
    EXPECT_OK(rpma_conn_cfg_delete(&cfg));
    EXPECT_OK(rpma_peer_cfg_delete(&pcfg));
    EXPECT_OK(rpma_srq_delete(&srq[0]));
    EXPECT_OK(rpma_srq_delete(&srq[1]));
    EXPECT_OK(rpma_peer_delete(&peer));
}

void one_thread_may_wait_for_events_while_others_look(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn* conn = harness::make_connection(peer);
    fake::push_event(fake::last_id(), RDMA_CM_EVENT_ESTABLISHED, 0, "hello");
    rpma_mr_remote* remote = harness::make_remote(0x1000, 64, 1, RPMA_MR_USAGE_WRITE_DST);
    rpma_peer_cfg* pcfg = nullptr;
    EXPECT_OK(rpma_peer_cfg_new(&pcfg));
    std::atomic<int> seen{0};
    run({[&](int i) {
             rpma_conn_event event = RPMA_CONN_UNDEFINED;
             if (i == kRounds / 2) {
                 (void)rpma_conn_next_event(conn, &event);
             }
         },
         [&](int) {
             rpma_conn_private_data data = {};
             (void)rpma_conn_get_private_data(conn, &data);
             seen += data.ptr != nullptr &&
                             std::string(static_cast<char*>(data.ptr), data.len) != "hello"
                         ? 1
                         : 0;
         },
         [&](int) { (void)rpma_conn_apply_remote_peer_cfg(conn, pcfg); },
         [&](int) {
             // Refused for its usage, after the declaration has been read.
             (void)rpma_flush(conn, remote, 0, 1, RPMA_FLUSH_TYPE_PERSISTENT, 3, nullptr);
         }});
    assert_int_equal(seen, 0);
    EXPECT_OK(rpma_peer_cfg_delete(&pcfg));
    EXPECT_OK(rpma_mr_remote_delete(&remote));
    EXPECT_OK(rpma_conn_delete(&conn));
    EXPECT_OK(rpma_peer_delete(&peer));
}

/// References to one peer come and go in several threads; the last one frees it once.
void parents_are_counted_in_all_threads(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_srq* srq = nullptr;
    EXPECT_OK(rpma_srq_new(peer, nullptr, &srq));
    EXPECT_OK(rpma_peer_delete(&peer));
    rpma_conn_cfg* cfgs[4] = {};
    for (rpma_conn_cfg*& cfg : cfgs) {
        EXPECT_OK(rpma_conn_cfg_new(&cfg));
    }
    std::vector<std::function<void(int)>> bodies;
    std::vector<std::thread> threads;
    for (rpma_conn_cfg*& cfg : cfgs) {
        threads.emplace_back([&cfg, srq] {
            for (int i = 0; i < kRounds; ++i) {
                (void)rpma_conn_cfg_set_srq(cfg, srq);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_OK(rpma_srq_delete(&srq));
    assert_int_equal(fake::world.live["srq"], 1);
    for (rpma_conn_cfg*& cfg : cfgs) {
        EXPECT_OK(rpma_conn_cfg_delete(&cfg));
    }
    assert_int_equal(fake::world.live["srq"], 0);
}

/// Runs body with stderr in a file; gives what is in there afterwards.
std::string stderr_of(const std::function<void()>& body) {
    std::FILE* const file = std::tmpfile();
    assert_non_null(file);
    assert_int_equal(fcntl(fileno(file), F_SETFL, O_APPEND), 0);
    const int saved = dup(2);
    dup2(fileno(file), 2);
    body();
    dup2(saved, 2);
    close(saved);
    std::string text(static_cast<std::size_t>(lseek(fileno(file), 0, SEEK_END)), '\0');
    const ssize_t got = pread(fileno(file), text.data(), text.size(), 0);
    assert_int_equal(got, text.size());
    std::fclose(file);
    return text;
}

/// The default function writes each line in one piece. (The data path's lines go to stderr only.)
void lines_of_several_threads_stay_whole(void**) {
    EXPECT_OK(rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
    EXPECT_OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_ERROR));
    EXPECT_OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_ERROR));
    const auto fail_once = [](int) { (void)rpma_cq_wait(nullptr); };
    const std::string text = stderr_of([&] {
        run({fail_once, fail_once, fail_once, fail_once, fail_once});
    });
    EXPECT_OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_DISABLED));
    const std::regex form(
        "[A-Z][a-z]{2} [0-9]{2} [0-9:]{8}\\.[0-9]{6} \\[[0-9]+\\] \\*ERROR\\* cq\\.cpp: [ 0-9]{3}: "
        "rpma_cq_wait: cq must not be NULL");
    std::size_t lines = 0;
    for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos;
         at = end + 1) {
        assert_true(std::regex_match(text.substr(at, end - at), form));
        ++lines;
    }
    assert_int_equal(lines, 5 * kRounds);
    assert_int_equal(text.back(), '\n');
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(the_log_function_can_change_while_logging),
        TEST(configurations_can_be_shared),
        TEST(one_thread_may_wait_for_events_while_others_look),
        TEST(parents_are_counted_in_all_threads),
        TEST(lines_of_several_threads_stay_whole),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
