// SPDX-License-Identifier: BSD-3-Clause
#include "carrier/engine.hpp"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cmocka.hpp"
#include "waiting.hpp"

using fabric::carrier::Engine;
using fabric::carrier::Timer;
using fabric::carrier::Watcher;
using namespace std::chrono_literals;

namespace {

// The number of times the engine's thread gave up the CPU, from /proc; -1 if there is no such
// thread.
long sleeps_of_engine() {
    DIR* const tasks = opendir("/proc/self/task");
    long found = -1;
    while (const dirent* const task = readdir(tasks)) {
        const std::string file = std::string("/proc/self/task/") + task->d_name + "/status";
        FILE* const status = std::fopen(file.c_str(), "r");
        if (status == nullptr)
            continue;
        std::array<char, 256> line{};
        bool ours = false;
        while (std::fgets(line.data(), line.size(), status) != nullptr) {
            ours = ours || std::strcmp(line.data(), "Name:\trpma-fabric\n") == 0;
            if (ours && std::strncmp(line.data(), "voluntary_ctxt_switches:", 24) == 0)
                found = std::atol(line.data() + 24);
        }
        std::fclose(status);
    }
    closedir(tasks);
    return found;
}

class Counter final : public Watcher {
public:
    explicit Counter(int fd) : fd_(fd) {}
    void ready(std::uint32_t) override {
        char byte = 0;
        if (read(fd_, &byte, 1) == 1)
            ++count;
    }
    std::atomic<int> count{0};

private:
    const int fd_;
};

void starts_with_its_first_use(void**) {
    assert_int_equal(sleeps_of_engine(), -1);
    std::atomic<bool> ran{false};
    Engine::instance().post([&] { ran = Engine::instance().here(); });
    assert_true(eventually([&] { return ran.load(); }));
    assert_false(Engine::instance().here());
    assert_true(eventually([] { return sleeps_of_engine() >= 0; }));
}

void posted_calls_keep_their_order(void**) {
    std::mutex mutex;
    std::vector<int> order;
    for (int i = 0; i < 100; ++i)
        Engine::instance().post([&, i] {
            const std::lock_guard guard(mutex);
            order.push_back(i);
        });
    assert_true(eventually([&] {
        const std::lock_guard guard(mutex);
        return order.size() == 100;
    }));
    for (int i = 0; i < 100; ++i)
        assert_int_equal(order[static_cast<std::size_t>(i)], i);
}

// Sets four timers out of order and waits for them. False: setting them took so long, on a busy
// machine, that their order is another one.
bool timers_in_order(std::vector<int>& order) {
    std::mutex mutex;
    const auto note = [&](int what) {
        return [&, what] {
            const std::lock_guard guard(mutex);
            order.push_back(what);
        };
    };
    const auto begin = std::chrono::steady_clock::now();
    Engine::instance().after(60ms, note(3));
    Engine::instance().after(20ms, note(1));
    Engine::instance().after(40ms, note(2));
    Engine::instance().after(0ms, note(0));
    const bool quick = std::chrono::steady_clock::now() - begin < 20ms;
    assert_true(eventually([&] {
        const std::lock_guard guard(mutex);
        return order.size() == 4;
    }));
    return quick;
}

void timers_fire_in_order_of_time(void**) {
    std::vector<int> order;
    int attempts = 0;
    while (!timers_in_order(order)) {
        assert_true(++attempts < 100);
        order.clear();
    }
    assert_true((order == std::vector{0, 1, 2, 3}));
}

void a_cancelled_timer_does_not_fire(void**) {
    std::atomic<int> fired{0};
    const auto cancelled = Engine::instance().after(20ms, [&] { fired += 100; });
    Engine::instance().after(40ms, [&] { fired += 1; });
    Engine::instance().cancel(cancelled);
    Engine::instance().cancel(cancelled);
    Engine::instance().cancel(0);
    assert_true(eventually([&] { return fired.load() != 0; }));
    assert_int_equal(fired.load(), 1);
}

void what_a_cancelled_timer_holds_is_given_up(void**) {
    const auto held = std::make_shared<int>(1);
    const auto timer = Engine::instance().after(1h, [held] {});
    assert_int_equal(held.use_count(), 2);
    Engine::instance().cancel(timer);
    assert_int_equal(held.use_count(), 1);
}

void a_timer_goes_with_its_owner(void**) {
    const auto held = std::make_shared<int>(1);
    {
        Timer timer;
        timer.set(1h, [held] {});
        assert_int_equal(held.use_count(), 2);
    }
    assert_int_equal(held.use_count(), 1);
}

void a_timer_set_again_forgets_what_it_was_to_do(void**) {
    std::atomic<int> fired{0};
    Timer timer;
    timer.set(20ms, [&] { fired += 100; });
    timer.set(40ms, [&] { fired += 1; });
    assert_true(eventually([&] { return fired.load() != 0; }));
    assert_int_equal(fired.load(), 1);
    timer.cancel();
    timer.set(1ms, [&] { fired += 1; });
    assert_true(eventually([&] { return fired.load() == 2; }));
}

void watches_descriptors(void**) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    auto counter = std::make_shared<Counter>(ends[0]);
    assert_int_equal(Engine::instance().watch(ends[0], EPOLLIN, counter), 0);
    assert_int_equal(write(ends[1], "xyz", 3), 3);
    assert_true(eventually([&] { return counter->count == 3; }));
    Engine::instance().unwatch(ends[0]);
    Engine::instance().unwatch(ends[0]);
    assert_true(eventually([&] { return counter.use_count() == 1; }));
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(Engine::instance().watch(-1, EPOLLIN, counter), EBADF);
}

void sleeps_when_there_is_nothing_to_do(void**) {
    assert_true(sleeps_of_engine() >= 0);
    std::this_thread::sleep_for(50ms);
    const long before = sleeps_of_engine();
    std::this_thread::sleep_for(300ms);
    assert_int_equal(sleeps_of_engine(), before);
}

void another_thread_can_do_its_work(void**) {
    std::atomic<int> ran{0};
    for (int i = 0; i < 1000; ++i) {
        Engine::instance().post([&] { ++ran; });
        Engine::instance().assist();
    }
    assert_true(eventually([&] { return ran == 1000; }));
}

void* wait_until_readable(void* fd) {
    pollfd readable = {*static_cast<int*>(fd), POLLIN, 0};
    while (poll(&readable, 1, 0) == 0)
        Engine::instance().wait_for(readable.fd, &readable);
    return nullptr;
}

bool runs_in(pthread_t thread) {
    std::atomic<int> where{0};
    Engine::instance().post([&] {
        where = pthread_equal(pthread_self(), thread) != 0 && Engine::instance().here() ? 1 : 2;
    });
    return eventually([&] { return where != 0; }) && where == 1;
}

void a_thread_that_waits_does_its_work(void**) {
    int fd = eventfd(0, EFD_CLOEXEC);
    pthread_t thread{};
    assert_int_equal(pthread_create(&thread, nullptr, wait_until_readable, &fd), 0);
    assert_true(eventually([&] { return runs_in(thread); }));
    const std::uint64_t one = 1;
    assert_int_equal(write(fd, &one, sizeof one), sizeof one);
    pthread_join(thread, nullptr);
    assert_null(Engine::taker());
    close(fd);
    std::atomic<bool> ran{false};
    Engine::instance().post([&] { ran = true; });
    assert_true(eventually([&] { return ran.load(); }));
}

// What one does between two waits must not keep the others' packets waiting.
void of_several_threads_that_wait_none_does_its_work(void**) {
    int fd = eventfd(0, EFD_CLOEXEC);
    std::array<pthread_t, 3> threads{};
    for (pthread_t& thread : threads)
        assert_int_equal(pthread_create(&thread, nullptr, wait_until_readable, &fd), 0);
    assert_true(eventually([&] {
        return std::none_of(threads.begin(), threads.end(), [](pthread_t t) { return runs_in(t); });
    }));
    const std::uint64_t one = 1;
    assert_int_equal(write(fd, &one, sizeof one), sizeof one);
    for (const pthread_t thread : threads)
        pthread_join(thread, nullptr);
    close(fd);
}

void a_cancelled_thread_leaves_the_work_to_others(void**) {
    int fd = eventfd(0, EFD_CLOEXEC);
    pthread_t thread{};
    assert_int_equal(pthread_create(&thread, nullptr, wait_until_readable, &fd), 0);
    assert_true(eventually([&] { return runs_in(thread); }));
    std::this_thread::sleep_for(20ms);  // by now nobody but that thread looks
    assert_int_equal(pthread_cancel(thread), 0);
    pthread_join(thread, nullptr);
    close(fd);
    std::atomic<bool> ran{false};
    Engine::instance().post([&] { ran = true; });
    assert_true(eventually([&] { return ran.load(); }));
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(starts_with_its_first_use),
        cmocka_unit_test(posted_calls_keep_their_order),
        cmocka_unit_test(timers_fire_in_order_of_time),
        cmocka_unit_test(a_cancelled_timer_does_not_fire),
        cmocka_unit_test(what_a_cancelled_timer_holds_is_given_up),
        cmocka_unit_test(a_timer_goes_with_its_owner),
        cmocka_unit_test(a_timer_set_again_forgets_what_it_was_to_do),
        cmocka_unit_test(watches_descriptors),
        cmocka_unit_test(sleeps_when_there_is_nothing_to_do),
        cmocka_unit_test(another_thread_can_do_its_work),
        cmocka_unit_test(a_thread_that_waits_does_its_work),
        cmocka_unit_test(a_cancelled_thread_leaves_the_work_to_others),
        cmocka_unit_test(of_several_threads_that_wait_none_does_its_work),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
