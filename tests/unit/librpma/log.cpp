// SPDX-License-Identifier: BSD-3-Clause
// Log lines: thresholds, the user's function, the default function on stderr and syslog.
#include <fcntl.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <regex>

#include "harness.hpp"

namespace {

using fake::world;

struct Syslogged {
    int priority;
    std::string text;
};

std::vector<Syslogged> syslogged;
bool syslog_opened = false;

/// What the process writes to stderr while this exists.
class Stderr {
public:
    Stderr() : saved_(dup(2)) {
        assert_int_equal(pipe(pipe_), 0);
        assert_int_equal(fcntl(pipe_[1], F_SETPIPE_SZ, 65536) >= 0, 1);
        dup2(pipe_[1], 2);
        close(pipe_[1]);
    }
    std::string take() {
        dup2(saved_, 2);
        close(saved_);
        std::string text;
        char bytes[4096];
        for (ssize_t got; (got = read(pipe_[0], bytes, sizeof(bytes))) > 0;) {
            text.append(bytes, static_cast<std::size_t>(got));
        }
        close(pipe_[0]);
        return text;
    }

private:
    int saved_;
    int pipe_[2] = {};
};

/// A failing call of set-up, whose line holds name.
void fail_with(const char* name) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn_req* req = nullptr;
    world.dead_families = {AF_INET};
    (void)rpma_conn_req_new(peer, name, "1", nullptr, &req);
    world.dead_families.clear();
    EXPECT_OK(rpma_peer_delete(&peer));
}

void use_default(rpma_log_level aux) {
    EXPECT_OK(rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
    EXPECT_OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, aux));
    syslogged.clear();
    syslog_opened = false;
}

void thresholds_have_defaults_and_limits(void**) {
    // set_up() has set the main one to what it is at first.
    rpma_log_level level = RPMA_LOG_LEVEL_DEBUG;
    EXPECT_OK(rpma_log_get_threshold(RPMA_LOG_THRESHOLD_AUX, &level));
    assert_int_equal(level, RPMA_LOG_DISABLED);
    for (int i = -1; i <= 5; ++i) {
        for (const auto threshold : {RPMA_LOG_THRESHOLD, RPMA_LOG_THRESHOLD_AUX}) {
            EXPECT_OK(rpma_log_set_threshold(threshold, static_cast<rpma_log_level>(i)));
            EXPECT_OK(rpma_log_get_threshold(threshold, &level));
            assert_int_equal(level, i);
        }
    }
    EXPECT_OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_DISABLED));
}

void a_user_function_gets_whole_lines(void**) {
    fail_with("host");
    assert_int_equal(harness::lines.size(), 1);
    assert_string_equal(harness::lines[0].file.c_str(), "src/conn_req.cpp");
    assert_string_equal(harness::lines[0].function.c_str(), "rpma_conn_req_new");
    EXPECT_OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED));
    fail_with("host");
    assert_int_equal(harness::lines.size(), 1);
}

void text_from_outside_is_escaped(void**) {
    fail_with("a\nb\x1b[31m\x7f\xff\tc");
    assert_true(harness::lines.at(0).text.find("a\\x0ab\\x1b[31m\\x7f\\xff\\x09c") !=
                std::string::npos);
    assert_int_equal(harness::lines[0].text.find('\n'), harness::lines[0].text.size() - 1);
}

void long_lines_are_cut_and_stay_lines(void**) {
    // A name counts for 255 characters, so that the reason behind it has room; escaped they are
    // four times as long.
    fail_with(std::string(3000, 'x').c_str());
    assert_true(harness::lines.at(0).text.size() < 600);
    assert_true(harness::lines[0].text.find("ip route get") != std::string::npos);
    fail_with(std::string(3000, '\n').c_str());
    assert_true(harness::lines.at(1).text.size() > 1000);
    for (const harness::Line& line : harness::lines) {
        assert_true(line.text.size() <= 1023);
        assert_int_equal(line.text.find('\n'), line.text.size() - 1);
    }
    assert_int_equal(harness::lines.size(), 2);
}

int calls_of_log_function = 0;

/// Calls the library, also with a call that fails and so makes a line of its own, then goes.
void calls_the_library(rpma_log_level, const char*, const int, const char*, const char*, ...) {
    if (++calls_of_log_function == 1) {
        rpma_log_level level = RPMA_LOG_DISABLED;
        EXPECT_OK(rpma_log_get_threshold(RPMA_LOG_THRESHOLD, &level));
        assert_int_equal(rpma_mr_get_size(nullptr, nullptr), RPMA_E_INVAL);
        EXPECT_OK(rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
    }
    errno = EDOM;
}

void a_log_function_may_call_the_library(void**) {
    use_default(RPMA_LOG_DISABLED);
    EXPECT_OK(rpma_log_set_function(calls_the_library));
    fail_with("host");
    assert_int_equal(calls_of_log_function, 2);
    assert_int_equal(errno, ENETUNREACH);
    fail_with("host");
    assert_int_equal(calls_of_log_function, 2);
    assert_int_equal(syslogged.size(), 1);
    // What it does to errno is not the caller's.
    EXPECT_OK(rpma_log_set_function(calls_the_library));
    errno = ERANGE;
    assert_int_equal(rpma_mr_get_size(nullptr, nullptr), RPMA_E_INVAL);
    assert_int_equal(errno, ERANGE);
}

void the_default_function_writes_to_syslog_only(void**) {
    use_default(RPMA_LOG_DISABLED);
    Stderr output;
    fail_with("host");
    assert_string_equal(output.take().c_str(), "");
    assert_int_equal(syslogged.size(), 1);
    assert_int_equal(syslogged[0].priority, LOG_LOCAL7 | LOG_ERR);
    const std::regex form("\\*ERROR\\* conn_req\\.cpp: [ 0-9]{3}: rpma_conn_req_new: .*host.*\n");
    assert_true(std::regex_match(syslogged[0].text, form));
    assert_false(syslog_opened);  // the program's own settings are left alone
}

void the_default_function_writes_to_stderr_up_to_the_auxiliary_threshold(void**) {
    use_default(RPMA_LOG_LEVEL_ERROR);
    Stderr output;
    fail_with("host");
    fail_with("host");
    const std::string text = output.take();
    const std::regex form(
        "([A-Z][a-z]{2} [0-9]{2} [0-9:]{8}\\.[0-9]{6} \\[[0-9]+\\] \\*ERROR\\* conn_req\\.cpp: "
        "[ 0-9]{3}: rpma_conn_req_new: [^\n]*\n){2}");
    print_message("%s", text.c_str());
    assert_true(std::regex_match(text, form));
    use_default(RPMA_LOG_LEVEL_FATAL);
    Stderr again;
    fail_with("host");
    assert_string_equal(again.take().c_str(), "");
    assert_int_equal(syslogged.size(), 1);
    use_default(RPMA_LOG_DISABLED);
}

void the_data_path_never_writes_to_syslog(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn* conn = harness::make_connection(peer);
    rpma_cq* cq = nullptr;
    EXPECT_OK(rpma_conn_get_cq(conn, &cq));
    use_default(RPMA_LOG_LEVEL_ERROR);
    EXPECT_OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG));
    ibv_wc wc = {};
    Stderr output;
    for (const int result : {ENOMEM, EINVAL}) {
        world.post_result = result;
        (void)rpma_send(conn, nullptr, 0, 0, RPMA_F_COMPLETION_ALWAYS, nullptr);
        (void)rpma_recv(conn, nullptr, 0, 0, nullptr);
        (void)rpma_write(conn, nullptr, 0, nullptr, 0, 0, RPMA_F_COMPLETION_ALWAYS, nullptr);
    }
    world.post_result = 0;
    (void)rpma_read(conn, nullptr, 1, nullptr, 0, 0, RPMA_F_COMPLETION_ALWAYS, nullptr);
    (void)rpma_send(nullptr, nullptr, 0, 0, RPMA_F_COMPLETION_ALWAYS, nullptr);
    world.poll_result = -EIO;
    (void)rpma_cq_get_wc(cq, 1, &wc, nullptr);
    world.poll_result = 0;
    (void)rpma_cq_get_wc(cq, 0, &wc, nullptr);
    (void)rpma_cq_wait(nullptr);
    const std::string text = output.take();
    assert_int_equal(syslogged.size(), 0);
    // Three dead posts, two refused ones, three of the queue; a full queue is level debug.
    assert_int_equal(std::count(text.begin(), text.end(), '\n'), 8);
    use_default(RPMA_LOG_DISABLED);
    EXPECT_OK(rpma_conn_delete(&conn));
    EXPECT_OK(rpma_peer_delete(&peer));
}

}  // namespace

// In place of libc's.
extern "C" {
void __wrap_syslog(int priority, const char* format, ...) __attribute__((format(printf, 2, 3)));
void __wrap_openlog(const char* ident, int option, int facility);

void __wrap_syslog(int priority, const char* format, ...) {
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    syslogged.push_back({priority, text});
}

void __wrap_openlog(const char*, int, int) {
    syslog_opened = true;
}
}

int main() {
    const CMUnitTest tests[] = {
        TEST(thresholds_have_defaults_and_limits),
        TEST(a_user_function_gets_whole_lines),
        TEST(text_from_outside_is_escaped),
        TEST(long_lines_are_cut_and_stay_lines),
        TEST(a_log_function_may_call_the_library),
        TEST(the_default_function_writes_to_syslog_only),
        TEST(the_default_function_writes_to_stderr_up_to_the_auxiliary_threshold),
        TEST(the_data_path_never_writes_to_syslog),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
