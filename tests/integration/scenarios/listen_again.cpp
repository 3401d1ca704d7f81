// SPDX-License-Identifier: BSD-3-Clause
// A port can be listened on again at once, 50 times, whoever closed first; "processes": each time
// by a new process.
#include <sys/wait.h>
#include <unistd.h>

#include "common/session.hpp"

namespace {

constexpr int kRounds = 50;

void one_round(it::Role& role, rpma_peer* peer, int round) {
    const it::Endpoint endpoint = it::listen(role, peer);
    const it::Connection connection = it::accept(endpoint.get());
    if (round % 2 == 0) {
        it::disconnect(connection.get());
    } else {
        role.peer().signal("you close");
        it::expect_closed(connection.get());
    }
}

// The role of this program once more, for one round.
[[noreturn]] void become_new_server(const std::string& round) {
    execl("/proc/self/exe", "server", "server", "one-round", round.c_str(), nullptr);
    _exit(127);
}

void round_in_new_process(int round) {
    const std::string number = std::to_string(round);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        become_new_server(number);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void a_busy_port_is_refused(it::Role& role, rpma_peer* peer) {
    const it::Endpoint first = it::listen(role, peer);
    rpma_ep* second = nullptr;
    CHECK_CODE(rpma_ep_listen(peer, role.address.c_str(), role.port.c_str(), &second),
               RPMA_E_PROVIDER);
    CHECK(second == nullptr);
    role.peer().signal("you close");
    it::expect_closed(it::accept(first.get()).get());
}

void wildcards_listen(it::Role& role, rpma_peer* peer) {
    for (const char* any : {"0.0.0.0", "::"}) {
        rpma_ep* raw = nullptr;
        CHECK_OK(rpma_ep_listen(peer, any, role.port.c_str(), &raw));
        const it::Endpoint endpoint(raw);
        role.peer().signal("listening");
        role.peer().signal("you close");
        it::expect_closed(it::accept(endpoint.get()).get());
    }
}

}  // namespace

void server(it::Role& role) {
    if (role.has_argument("processes")) {
        for (int round = 0; round < kRounds; ++round) {
            round_in_new_process(round);
        }
        return;
    }
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    if (role.has_argument("one-round")) {
        one_round(role, peer.get(), std::stoi(role.arguments.back()));
        return;
    }
    for (int round = 0; round < kRounds; ++round) {
        one_round(role, peer.get(), round);
    }
    a_busy_port_is_refused(role, peer.get());
    wildcards_listen(role, peer.get());
}

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const int rounds = role.has_argument("processes") ? kRounds : kRounds + 3;
    for (int round = 0; round < rounds; ++round) {
        const it::Connection connection = it::connect(role, peer.get());
        if (round % 2 == 0 && round < kRounds) {
            it::expect_closed(connection.get());
            CHECK_OK(rpma_conn_disconnect(connection.get()));
        } else {
            role.peer().await("you close");
            it::disconnect(connection.get());
        }
    }
}
