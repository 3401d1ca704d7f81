// SPDX-License-Identifier: BSD-3-Clause
// A stopped process (SIGSTOP) breaks no connection: posted operations wait and complete after
// SIGCONT. Argument "server" or "client": who is stopped.
#include <unistd.h>

#include <csignal>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = 8U << 20U;

void stop_for_a_while(pid_t pid) {
    CHECK(kill(pid, SIGSTOP) == 0);
    it::sleep_ms(3000);
    CHECK(kill(pid, SIGCONT) == 0);
}

void write_and_verify(const it::Attached& attached, std::uint64_t seed) {
    it::fill(attached.local.bytes(0, kSize), seed);
    attached.write(0, 0, kSize);
    attached.flush(0, kSize);
    attached.read(kSize, 0, kSize);
    it::check_filled(attached.local.bytes(kSize, kSize), seed);
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kSize);
    role.peer().give("process", getpid());
    const auto client_pid = role.peer().take<pid_t>("process");
    role.peer().await("transferring");
    if (role.has_argument("client")) {
        stop_for_a_while(client_pid);
    }
    role.peer().await("done");
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, 2 * kSize);
    const auto server_pid = role.peer().take<pid_t>("process");
    role.peer().give("process", getpid());
    role.peer().signal("transferring");
    if (role.has_argument("server")) {
        CHECK_OK(rpma_write(attached.conn(), attached.remote.get(), 0, attached.local.mr(), 0,
                            kSize, RPMA_F_COMPLETION_ALWAYS, it::context(9)));
        stop_for_a_while(server_pid);
        it::expect_done(attached.conn(), IBV_WC_RDMA_WRITE, it::context(9));
    }
    for (std::uint64_t round = 0; round < 50; ++round) {
        write_and_verify(attached, round);
    }
    role.peer().signal("done");
    it::disconnect(attached.conn());
}
