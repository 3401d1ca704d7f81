// SPDX-License-Identifier: BSD-3-Clause
// Event channels and the life of ids: descriptors, waiting, migrating, acknowledging.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "peers.hpp"

using namespace fabric::test;

namespace {

// Long enough that a call which should block would have returned, if it did not.
constexpr std::chrono::milliseconds kMoment{100};

void resolve(const Peer& id) {
    sockaddr_in to = loopback(9);
    assert_int_equal(rdma_resolve_addr(id.get(), nullptr, generic(to), 1000), 0);
}

void empty_and_non_blocking_says_eagain(void**) {
    const Events events;
    assert_int_equal(fcntl(events.channel()->fd, F_SETFL, O_NONBLOCK), 0);
    rdma_cm_event* event = nullptr;
    assert_int_equal(rdma_get_cm_event(events.channel(), &event), -1);
    assert_int_equal(errno, EAGAIN);
    const Peer id(events.channel());
    resolve(id);
    events.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_int_equal(rdma_get_cm_event(events.channel(), &event), -1);
    assert_int_equal(errno, EAGAIN);
}

void descriptor_is_level_triggered(void**) {
    const Events events;
    const int poller = epoll_create1(EPOLL_CLOEXEC);
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    assert_int_equal(epoll_ctl(poller, EPOLL_CTL_ADD, events.channel()->fd, &wanted), 0);
    epoll_event got{};
    assert_int_equal(epoll_wait(poller, &got, 1, 0), 0);
    const Peer one(events.channel());
    const Peer two(events.channel());
    resolve(one);
    resolve(two);
    for (int left = 2; left > 0; --left) {
        assert_int_equal(epoll_wait(poller, &got, 1, 0), 1);
        assert_int_equal(epoll_wait(poller, &got, 1, 0), 1);
        events.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    }
    assert_int_equal(epoll_wait(poller, &got, 1, 0), 0);
    close(poller);
}

void ignore(int) {}

// Sends signals to a thread that waits for an event, until it returns or an event ends its wait.
int interrupted_wait(int flags) {
    struct sigaction action {};
    action.sa_handler = ignore;
    action.sa_flags = flags;
    assert_int_equal(sigaction(SIGUSR1, &action, nullptr), 0);
    const Events events;
    const Peer id(events.channel());
    std::atomic<bool> done{false};
    int outcome = 0;
    std::thread waiter([&] {
        rdma_cm_event* event = nullptr;
        if (rdma_get_cm_event(events.channel(), &event) == 0)
            rdma_ack_cm_event(event);
        else
            outcome = errno;
        done = true;
    });
    for (int i = 0; i < 20 && !done; ++i) {
        std::this_thread::sleep_for(kMoment / 10);
        pthread_kill(waiter.native_handle(), SIGUSR1);
    }
    resolve(id);
    waiter.join();
    return outcome;
}

void waiting_ends_with_a_signal_as_a_read_does(void**) {
    assert_int_equal(interrupted_wait(0), EINTR);
    assert_int_equal(interrupted_wait(SA_RESTART), 0);
}

void events_follow_a_migrated_id(void**) {
    const Events first;
    const Events second;
    const Peer id(first.channel());
    const Peer other(first.channel());
    resolve(other);
    resolve(id);
    assert_int_equal(rdma_migrate_id(id.get(), second.channel()), 0);
    assert_ptr_equal(id->channel, second.channel());
    assert_ptr_equal(second.expect(RDMA_CM_EVENT_ADDR_RESOLVED)->id, id.get());
    assert_ptr_equal(first.expect(RDMA_CM_EVENT_ADDR_RESOLVED)->id, other.get());
    assert_true(first.empty());
    assert_int_equal(rdma_resolve_route(id.get(), 1000), 0);
    second.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    assert_true(first.empty());
}

// Runs `operation` in a thread and asserts that it waits until the event is acknowledged.
template <typename Operation>
void assert_waits_for(EventPtr event, Operation operation) {
    std::atomic<bool> done{false};
    std::thread worker([&] {
        operation();
        done = true;
    });
    std::this_thread::sleep_for(kMoment);
    assert_false(done);
    event.reset();
    worker.join();
    assert_true(done);
}

void migrating_waits_for_acknowledgements(void**) {
    const Events first;
    const Events second;
    const Peer id(first.channel());
    resolve(id);
    assert_waits_for(first.expect(RDMA_CM_EVENT_ADDR_RESOLVED),
                     [&] { assert_int_equal(rdma_migrate_id(id.get(), second.channel()), 0); });
}

void destroying_waits_for_acknowledgements(void**) {
    const Events events;
    Peer id(events.channel());
    resolve(id);
    assert_waits_for(events.expect(RDMA_CM_EVENT_ADDR_RESOLVED), [&] { id.reset(); });
}

void connect_requests_count_for_the_listener(void**) {
    Server server;
    const Client client(server.port());
    assert_int_equal(client.connect(), 0);
    EventPtr event = server.events.expect(RDMA_CM_EVENT_CONNECT_REQUEST);
    Peer accepted(event->id);
    accepted.reset();  // does not wait
    assert_waits_for(std::move(event), [&] { server.id.reset(); });
    client.events.expect(RDMA_CM_EVENT_REJECTED);
}

void destroying_drops_what_was_not_fetched(void**) {
    const Events events;
    Peer id(events.channel());
    resolve(id);
    assert_false(events.empty());
    id.reset();
    assert_true(events.empty());
}

// What librpma does with an accepted connection.
void established_is_found_on_the_new_channel(void**) {
    Server server;
    Client client(server.port());
    assert_int_equal(client.connect(), 0);
    Peer accepted = server.request();
    accepted.make_pair();
    assert_int_equal(rdma_accept(accepted.get(), nullptr), 0);
    client.events.expect(RDMA_CM_EVENT_ESTABLISHED);
    while (server.events.empty())
        continue;
    const Events own;
    assert_int_equal(rdma_migrate_id(accepted.get(), own.channel()), 0);
    own.expect(RDMA_CM_EVENT_ESTABLISHED);
    assert_true(server.events.empty());
    accepted.reset();
}

void synchronous_ids_wait_for_their_events(void**) {
    const Peer id(static_cast<rdma_event_channel*>(nullptr));
    assert_non_null(id->channel);
    resolve(id);
    assert_non_null(id->event);
    assert_int_equal(id->event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_int_equal(rdma_resolve_route(id.get(), 1000), 0);
    assert_int_equal(id->event->event, RDMA_CM_EVENT_ROUTE_RESOLVED);
    assert_int_equal(rdma_migrate_id(id.get(), nullptr), -1);  // is synchronous already
    assert_int_equal(errno, EINVAL);
    const Events events;
    assert_int_equal(rdma_migrate_id(id.get(), events.channel()), 0);
    assert_null(id->event);
    assert_ptr_equal(id->channel, events.channel());
    assert_int_equal(rdma_migrate_id(id.get(), nullptr), 0);
    assert_ptr_not_equal(id->channel, events.channel());
}

void synchronous_connect_gives_errno(void**) {
    std::uint16_t port = 0;
    {
        Server server;
        port = server.port();
    }
    Peer id(static_cast<rdma_event_channel*>(nullptr));
    sockaddr_in to = loopback(port);
    assert_int_equal(rdma_resolve_addr(id.get(), nullptr, generic(to), 1000), 0);
    assert_int_equal(rdma_resolve_route(id.get(), 1000), 0);
    id.make_pair();
    rdma_conn_param param = parameters();
    assert_int_equal(rdma_connect(id.get(), &param), -1);
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(id->event->event, RDMA_CM_EVENT_REJECTED);
    assert_int_equal(rdma_disconnect(id.get()), 0);  // nothing to wait for
}

void null_arguments_are_refused(void**) {
    const Events events;
    rdma_cm_id* id = nullptr;
    assert_int_equal(rdma_create_id(events.channel(), nullptr, nullptr, RDMA_PS_TCP), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(
        rdma_create_id(events.channel(), &id, nullptr, static_cast<rdma_port_space>(1)), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(rdma_destroy_id(nullptr), -1);
    assert_int_equal(rdma_migrate_id(nullptr, events.channel()), -1);
    assert_int_equal(rdma_get_cm_event(events.channel(), nullptr), -1);
    assert_int_equal(rdma_ack_cm_event(nullptr), -1);
    assert_int_equal(errno, EINVAL);
    rdma_destroy_event_channel(nullptr);
}

void a_forked_child_disturbs_nothing(void**) {
    Connection c;
    const Peer waiting(c.client.events.channel());
    resolve(waiting);
    const pid_t child = fork();
    if (child == 0) {
        rdma_cm_event* event = nullptr;
        const bool quiet = rdma_get_cm_event(c.client.events.channel(), &event) != 0 &&
                           rdma_disconnect(c.client.id.get()) != 0 &&
                           rdma_destroy_id(c.client.id.get()) == 0;
        rdma_destroy_event_channel(c.client.events.channel());
        _exit(quiet ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    c.client.events.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_true(c.server.events.empty());
    assert_int_equal(rdma_disconnect(c.client.id.get()), 0);
    c.server.events.expect(RDMA_CM_EVENT_DISCONNECTED);
    assert_int_equal(rdma_disconnect(c.accepted.get()), 0);
    c.client.events.expect(RDMA_CM_EVENT_DISCONNECTED);
}

void no_descriptor_is_left(void**) {
    { const Connection warm_up; }
    const int before = open_descriptors();
    for (int round = 0; round < 200; ++round) {
        Connection c;
        assert_int_equal(rdma_disconnect(c.client.id.get()), 0);
        c.server.events.expect(RDMA_CM_EVENT_DISCONNECTED);
        assert_int_equal(rdma_disconnect(c.accepted.get()), 0);
        c.client.events.expect(RDMA_CM_EVENT_DISCONNECTED);
    }
    int after = open_descriptors();
    for (int i = 0; i < 50 && after > before; ++i) {  // closed links linger a little
        std::this_thread::sleep_for(kMoment);
        after = open_descriptors();
    }
    assert_true(after <= before);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(empty_and_non_blocking_says_eagain),
        cmocka_unit_test(descriptor_is_level_triggered),
        cmocka_unit_test(waiting_ends_with_a_signal_as_a_read_does),
        cmocka_unit_test(events_follow_a_migrated_id),
        cmocka_unit_test(migrating_waits_for_acknowledgements),
        cmocka_unit_test(destroying_waits_for_acknowledgements),
        cmocka_unit_test(connect_requests_count_for_the_listener),
        cmocka_unit_test(destroying_drops_what_was_not_fetched),
        cmocka_unit_test(established_is_found_on_the_new_channel),
        cmocka_unit_test(synchronous_ids_wait_for_their_events),
        cmocka_unit_test(synchronous_connect_gives_errno),
        cmocka_unit_test(null_arguments_are_refused),
        cmocka_unit_test(a_forked_child_disturbs_nothing),
        cmocka_unit_test(no_descriptor_is_left),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
