// SPDX-License-Identifier: BSD-3-Clause
// A program that forks while it is connected.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

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

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(the_childs_end_does_not_disturb_the_parent),
        cmocka_unit_test(the_child_can_use_the_fabric_anew),
        cmocka_unit_test(a_close_is_seen_although_a_child_lives),
        cmocka_unit_test(a_port_is_free_although_a_child_lives),
        cmocka_unit_test(a_child_may_destroy_what_it_inherited),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
