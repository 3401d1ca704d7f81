// SPDX-License-Identifier: BSD-3-Clause
// A program that forks while it is connected.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include "carrier/engine.hpp"
#include "cmocka.hpp"
#include "links.hpp"
#include "queue_pairs.hpp"
#include "waiting.hpp"

using verbs_test::Device;
using verbs_test::Node;

namespace {

void exchange(const Node& a, const Node& b) {
    for (int i = 0; i < 10; ++i) {
        if (a.post_write(1, b, 4096) != 0 || a.next().status != IBV_WC_SUCCESS)
            abort();
    }
}

// Sockets among the descriptors of this process.
int count_sockets() {
    int count = 0;
    for (int fd = 0; fd < 256; ++fd) {
        const std::string name = "/proc/self/fd/" + std::to_string(fd);
        char target[64] = {};
        if (readlink(name.c_str(), target, sizeof target - 1) > 0 &&
            std::string(target).rfind("socket:", 0) == 0)
            ++count;
    }
    return count;
}

int wait_for(pid_t child) {
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void the_childs_end_does_not_disturb_the_parent(void**) {
    assert_int_equal(ibv_fork_init(), 0);
    Device device;
    Node a(device);
    Node b(device);
    verbs_test::connect(a, b);
    exchange(a, b);
    for (int round = 0; round < 5; ++round) {
        const pid_t child = fork();
        if (child == 0) {
            for (int i = 0; i < 1000; ++i)
                std::free(std::malloc(static_cast<std::size_t>(i) * 7));
            std::exit(count_sockets() == 0 ? 0 : 1);
        }
        exchange(a, b);
        assert_int_equal(wait_for(child), 0);
        exchange(a, b);
    }
}

void the_child_can_use_the_fabric_anew(void**) {
    Device device;
    Node a(device);
    Node b(device);
    verbs_test::connect(a, b);
    exchange(a, b);
    const pid_t child = fork();
    if (child == 0) {
        {
            Device own;
            Node c(own);
            Node d(own);
            verbs_test::connect(c, d);
            exchange(c, d);
        }
        _exit(0);
    }
    assert_int_equal(wait_for(child), 0);
    exchange(a, b);
}

void a_close_is_seen_although_a_child_lives(void**) {
    std::optional<links::Pair> pair;
    pair.emplace();
    int go[2];
    assert_int_equal(pipe(go), 0);
    const pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        close(go[1]);
        static_cast<void>(!read(go[0], &byte, 1));
        _exit(0);
    }
    close(go[0]);
    pair->a.link->close();
    assert_true(eventually([&] { return pair->b.control->losses == 1; }));
    assert_int_equal(pair->b.control->last_error, 0);
    close(go[1]);
    assert_int_equal(wait_for(child), 0);
}

void a_port_is_free_although_a_child_lives(void**) {
    std::unique_ptr<fabric::carrier::Listener> listener;
    const auto nothing = [](std::shared_ptr<fabric::carrier::Link>) {};
    assert_int_equal(fabric::carrier::listen(links::loopback(0), 1, nothing, &listener), 0);
    const sockaddr_storage address = listener->address();
    int go[2];
    assert_int_equal(pipe(go), 0);
    const pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        close(go[1]);
        static_cast<void>(!read(go[0], &byte, 1));
        _exit(0);
    }
    close(go[0]);
    listener.reset();
    assert_int_equal(fabric::carrier::listen(address, 1, nothing, &listener), 0);
    close(go[1]);
    assert_int_equal(wait_for(child), 0);
}

// A child gives up what it inherited, timers too. Its own must not be taken for them.
void a_childs_timers_are_its_own(void**) {
    using fabric::carrier::Engine;
    using namespace std::chrono_literals;
    const Engine::TimerId inherited = Engine::instance().after(1h, [] {});
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        std::atomic<Engine::TimerId> fired{0};
        for (Engine::TimerId i = 0; i < inherited; ++i)
            Engine::instance().after(500ms, [&] { ++fired; });
        Engine::instance().cancel(inherited);
        _exit(eventually([&] { return fired == inherited; }) ? 0 : 1);
    }
    Engine::instance().cancel(inherited);
    assert_int_equal(wait_for(child), 0);
}

void a_child_may_destroy_what_it_inherited(void**) {
    Device device;
    Node a(device);
    Node b(device);
    verbs_test::connect(a, b);
    exchange(a, b);
    const pid_t child = fork();
    if (child == 0) {
        const bool ok = ibv_destroy_qp(a.qp) == 0 && ibv_destroy_qp(b.qp) == 0 &&
                        ibv_destroy_cq(a.cq) == 0 && ibv_dereg_mr(a.mr) == 0;
        _exit(ok ? 0 : 1);
    }
    assert_int_equal(wait_for(child), 0);
    exchange(a, b);
}

// Writes, registers and makes queue pairs until it is told to stop.
class Busy {
public:
    explicit Busy(const Device& device) : a(device), b(device), device_(device) {
        verbs_test::connect(a, b);
        threads_[0] = std::thread([this] { repeat([this] { exchange(a, b); }); });
        threads_[1] = std::thread([this] { repeat([this] { register_once(); }); });
        threads_[2] = std::thread([this] { repeat([this] { Node(device_, {}); }); });
    }
    ~Busy() {
        stop_ = true;
        for (std::thread& thread : threads_)
            thread.join();
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

    Node a;
    Node b;

private:
    template <typename Work>
    void repeat(Work work) const {
        while (!stop_)
            work();
    }
    void register_once() const {
        std::array<std::byte, 4096> memory{};
        ibv_dereg_mr(device_.register_memory(memory.data(), memory.size()));
    }

    const Device& device_;
    std::atomic<bool> stop_{false};
    std::array<std::thread, 3> threads_;
};

bool destroy(const Node& node) {
    return ibv_destroy_qp(node.qp) == 0 && ibv_destroy_cq(node.cq) == 0 &&
           ibv_dereg_mr(node.mr) == 0;
}

// The child has neither the threads that held locks nor what they were about to finish.
[[maybe_unused]] void a_child_of_busy_threads_destroys_and_begins_anew(void**) {
    Device device;
    const Busy busy(device);
    for (int round = 0; round < 100; ++round) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(30);
            bool ok = destroy(busy.a) && destroy(busy.b) && ibv_dealloc_pd(device.pd) == 0 &&
                      ibv_close_device(device.context) == 0;
            {
                const Device own;
                const Node c(own);
                const Node d(own);
                verbs_test::connect(c, d);
                exchange(c, d);
            }
            _exit(ok ? 0 : 1);
        }
        assert_int_equal(wait_for(child), 0);
    }
}

// The descriptor of a completion channel is one for parent and child: what a child destroys must
// not take the parent's events away.
void a_child_leaves_the_parents_events(void**) {
    Device device;
    ibv_comp_channel* const channel = ibv_create_comp_channel(device.context);
    {
        Node a(device, {.channel = channel});
        const Node b(device);
        verbs_test::connect(a, b);
        assert_int_equal(ibv_req_notify_cq(a.cq, 0), 0);
        assert_int_equal(a.post_write(1, b, 8), 0);
        pollfd readable = {channel->fd, POLLIN, 0};
        assert_int_equal(poll(&readable, 1, 30'000), 1);
        const pid_t child = fork();
        if (child == 0) {
            alarm(30);
            _exit(destroy(a) && ibv_destroy_comp_channel(channel) == 0 ? 0 : 1);
        }
        assert_int_equal(wait_for(child), 0);
        assert_int_equal(poll(&readable, 1, 0), 1);
        ibv_cq* cq = nullptr;
        void* context = nullptr;
        assert_int_equal(ibv_get_cq_event(channel, &cq, &context), 0);
        assert_ptr_equal(cq, a.cq);
        ibv_ack_cq_events(cq, 1);
        assert_int_equal(a.next().status, IBV_WC_SUCCESS);
    }
    assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(the_childs_end_does_not_disturb_the_parent),
        cmocka_unit_test(the_child_can_use_the_fabric_anew),
        cmocka_unit_test(a_close_is_seen_although_a_child_lives),
        cmocka_unit_test(a_port_is_free_although_a_child_lives),
        cmocka_unit_test(a_childs_timers_are_its_own),
        cmocka_unit_test(a_child_may_destroy_what_it_inherited),
    // TSan's runtime ends a child of several threads that starts a thread; in such a child ASan's
    // (before gcc 14) waits for locks of its allocator that nobody holds any more.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(a_child_of_busy_threads_destroys_and_begins_anew),
#endif
        cmocka_unit_test(a_child_leaves_the_parents_events),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
