// SPDX-License-Identifier: BSD-3-Clause
// Completion channels as descriptors.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "cmocka.hpp"
#include "queue_pairs.hpp"
#include "verbs/cq.hpp"
#include "waiting.hpp"

using fabric::verbs::Cq;
using verbs_test::Device;
using verbs_test::Node;

namespace {

void complete(ibv_cq* cq) {
    ibv_req_notify_cq(cq, 0);
    Cq::of(cq).push({}, false);
}

bool readable(int fd) {
    pollfd ready = {fd, POLLIN, 0};
    return poll(&ready, 1, 0) == 1;
}

struct Fixture {
    Device device;
    ibv_comp_channel* channel = ibv_create_comp_channel(device.context);
    ibv_cq* cq = device.make_cq(64, channel);
    ibv_cq* got = nullptr;
    void* user = nullptr;

    int take() { return ibv_get_cq_event(channel, &got, &user); }
    ~Fixture() {
        if (cq != nullptr)
            assert_int_equal(ibv_destroy_cq(cq), 0);
        assert_int_equal(ibv_destroy_comp_channel(channel), 0);
    }
};

void level_triggered(void**) {
    Fixture f;
    assert_false(readable(f.channel->fd));
    complete(f.cq);
    complete(f.cq);
    for (int i = 0; i < 3; ++i)
        assert_true(readable(f.channel->fd));
    assert_int_equal(f.take(), 0);
    assert_ptr_equal(f.got, f.cq);
    assert_true(readable(f.channel->fd));
    assert_int_equal(f.take(), 0);
    assert_false(readable(f.channel->fd));
    ibv_ack_cq_events(f.cq, 2);
}

void works_with_epoll(void**) {
    Fixture f;
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    event.events = EPOLLIN;
    assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, f.channel->fd, &event), 0);
    assert_int_equal(epoll_wait(epoll, &event, 1, 0), 0);
    complete(f.cq);
    assert_int_equal(epoll_wait(epoll, &event, 1, 0), 1);
    assert_int_equal(epoll_wait(epoll, &event, 1, 0), 1);
    assert_int_equal(f.take(), 0);
    assert_int_equal(epoll_wait(epoll, &event, 1, 0), 0);
    ibv_ack_cq_events(f.cq, 1);
    close(epoll);
}

void non_blocking(void**) {
    Fixture f;
    assert_int_equal(fcntl(f.channel->fd, F_SETFL, fcntl(f.channel->fd, F_GETFL) | O_NONBLOCK), 0);
    errno = 0;
    assert_int_equal(f.take(), -1);
    assert_int_equal(errno, EAGAIN);
    complete(f.cq);
    assert_int_equal(f.take(), 0);
    ibv_ack_cq_events(f.cq, 1);
}

void waits_when_blocking(void**) {
    Fixture f;
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        complete(f.cq);
    });
    assert_int_equal(f.take(), 0);
    ibv_ack_cq_events(f.cq, 1);
    later.join();
}

std::atomic<int> signals{0};

void interrupted(void**) {
    Fixture f;
    struct sigaction action {};
    action.sa_handler = [](int) { ++signals; };
    sigaction(SIGUSR1, &action, nullptr);
    const pthread_t waiting = pthread_self();
    std::atomic<bool> done{false};
    std::thread interrupter([&] {
        while (!done) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            pthread_kill(waiting, SIGUSR1);
        }
    });
    errno = 0;
    assert_int_equal(f.take(), -1);
    assert_int_equal(errno, EINTR);
    done = true;
    interrupter.join();
    assert_true(signals > 0);
}

// As the read of a kernel device's descriptor, that goes on behind a handler that asks for it.
void a_signal_that_restarts(void**) {
    Fixture f;
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = [](int) { ++signals; };
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, &before);
    const pthread_t waiting = pthread_self();
    signals = 0;
    std::thread interrupter([&] {
        for (int i = 0; i < 5; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            pthread_kill(waiting, SIGUSR1);
        }
        complete(f.cq);
    });
    assert_int_equal(f.take(), 0);
    ibv_ack_cq_events(f.cq, 1);
    interrupter.join();
    assert_true(signals > 0);
    sigaction(SIGUSR1, &before, nullptr);
}

struct Counted {
    Counted() { ++alive; }
    Counted(const Counted&) { ++alive; }
    Counted& operator=(const Counted&) = default;
    ~Counted() { --alive; }
    static inline int alive = 0;
};

// Whoever serves many queues may be behind by an event all the time.
void a_queue_that_is_never_empty_does_not_grow(void**) {
    fabric::verbs::EventQueue<Counted> queue;
    Counted out;
    queue.push({});
    for (int i = 0; i < 10000; ++i) {
        queue.push({});
        assert_int_equal(queue.take(out, [](const Counted&) {}), 0);
    }
    assert_true(Counted::alive < 1000);
}

void busy_while_queues_use_it(void**) {
    Fixture f;
    assert_int_equal(f.channel->refcnt, 1);
    assert_int_equal(ibv_destroy_comp_channel(f.channel), EBUSY);
}

void events_of_a_destroyed_queue_vanish(void**) {
    Fixture f;
    ibv_cq* const other = f.device.make_cq(64, f.channel);
    complete(other);
    complete(f.cq);
    complete(other);
    assert_int_equal(ibv_destroy_cq(other), 0);
    assert_int_equal(f.take(), 0);
    assert_ptr_equal(f.got, f.cq);
    assert_false(readable(f.channel->fd));
    ibv_ack_cq_events(f.cq, 1);
}

void destroying_waits_for_acknowledgements(void**) {
    Fixture f;
    complete(f.cq);
    complete(f.cq);
    assert_int_equal(f.take(), 0);
    assert_int_equal(f.take(), 0);
    std::atomic<bool> destroyed{false};
    std::thread destroyer([&] {
        assert_int_equal(ibv_destroy_cq(f.cq), 0);
        destroyed = true;
    });
    ibv_ack_cq_events(f.cq, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    assert_false(destroyed);
    ibv_ack_cq_events(f.cq, 1);
    destroyer.join();
    f.cq = nullptr;
}

// A thread that waits for an event may be cancelled, one that polls may not be hurt by it.
void cancelled_while_waiting(void**) {
    Fixture f;
    pthread_t waiting{};
    const auto wait = [](void* argument) -> void* {
        static_cast<Fixture*>(argument)->take();
        return nullptr;
    };
    assert_int_equal(pthread_create(&waiting, nullptr, wait, &f), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    assert_int_equal(pthread_cancel(waiting), 0);
    void* result = nullptr;
    assert_int_equal(pthread_join(waiting, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    complete(f.cq);
    assert_int_equal(f.take(), 0);
    ibv_ack_cq_events(f.cq, 1);
}

std::atomic<bool> polling{false};

void cancelled_while_polling(void**) {
    Fixture f;
    for (int round = 0; round < 20; ++round) {
        polling = false;
        pthread_t thread{};
        const auto poll_for_ever = [](void* argument) -> void* {
            ibv_wc wc{};
            for (long i = 0;; ++i) {
                ibv_poll_cq(static_cast<Fixture*>(argument)->cq, 1, &wc);
                polling = i > 1000;
                pthread_testcancel();
            }
        };
        assert_int_equal(pthread_create(&thread, nullptr, poll_for_ever, &f), 0);
        assert_true(eventually([] { return polling.load(); }));
        assert_int_equal(pthread_cancel(thread), 0);
        assert_int_equal(pthread_join(thread, nullptr), 0);
    }
    Node a(f.device);
    Node b(f.device);
    verbs_test::connect(a, b);
    assert_int_equal(a.post_write(1, b, 64), 0);
    assert_int_equal(a.next().status, IBV_WC_SUCCESS);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(level_triggered),
        cmocka_unit_test(works_with_epoll),
        cmocka_unit_test(non_blocking),
        cmocka_unit_test(waits_when_blocking),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(a_signal_that_restarts),
        cmocka_unit_test(a_queue_that_is_never_empty_does_not_grow),
        cmocka_unit_test(busy_while_queues_use_it),
        cmocka_unit_test(events_of_a_destroyed_queue_vanish),
        cmocka_unit_test(destroying_waits_for_acknowledgements),
        cmocka_unit_test(cancelled_while_waiting),
        cmocka_unit_test(cancelled_while_polling),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
