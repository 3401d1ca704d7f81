// SPDX-License-Identifier: BSD-3-Clause
// A process writes to two others. One of them stops: nothing is taken from its connection any more,
// and the socket fills up. The other one's operations go on; and when the first one is back, all
// that it was sent arrives.
#include <unistd.h>

#include <csignal>

#include "common/device_accesses.hpp"
#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kLarge = 4U << 20;  // several of these are more than a socket takes
constexpr std::size_t kStalled = 8;
constexpr std::size_t kSmall = 64U << 10;
constexpr std::uint64_t kRounds = 300;

struct Reached {
    it::Connection connection;
    it::RemoteMr remote;
};

Reached reach(it::Sync& client, rpma_ep* endpoint) {
    const it::ConnCfg cfg = it::configure({.cq = 2 * kStalled, .sq = 2 * kStalled});
    client.signal("connect");
    it::Connection connection = it::accept(endpoint, cfg.get());
    return {std::move(connection), it::remote_region(client.take<it::Descriptor>("region"))};
}

void write_to_stalled(const Reached& stalled, const it::Region& local) {
    for (std::size_t i = 0; i < kStalled; ++i) {
        CHECK_OK(rpma_write(stalled.connection.get(), stalled.remote.get(), 0, local.mr(), 0,
                            kLarge, RPMA_F_COMPLETION_ALWAYS, it::context(i)));
    }
}

void work_with(const Reached& other, const it::Region& local) {
    rpma_conn* const connection = other.connection.get();
    const auto done = [&](ibv_wc_opcode opcode) { it::expect_done(connection, opcode, nullptr); };
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        it::fill(local.bytes(0, kSmall), round);
        CHECK_OK(rpma_write(connection, other.remote.get(), 0, local.mr(), 0, kSmall,
                            RPMA_F_COMPLETION_ALWAYS, nullptr));
        done(IBV_WC_RDMA_WRITE);
        CHECK_OK(rpma_read(connection, local.mr(), kSmall, other.remote.get(), 0, kSmall,
                           RPMA_F_COMPLETION_ALWAYS, nullptr));
        done(IBV_WC_RDMA_READ);
        it::check_filled(local.bytes(kSmall, kSmall), round);
    }
}

}  // namespace

void server(it::Role& role) {
    CHECK(role.peers.size() == 2);
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region large(peer.get(), kLarge, it::kUsualUsage);
    const it::Region small(peer.get(), 2 * kSmall, it::kUsualUsage);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    const Reached stalled = reach(role.peers[0], endpoint.get());
    const Reached other = reach(role.peers[1], endpoint.get());
    const auto process = role.peers[0].take<pid_t>("process");
    it::fill(large.bytes(), 7);
    CHECK(kill(process, SIGSTOP) == 0);
    write_to_stalled(stalled, large);
    work_with(other, small);
    it::expect_none(it::main_cq(stalled.connection.get()));
    CHECK(kill(process, SIGCONT) == 0);
    for (std::size_t i = 0; i < kStalled; ++i) {
        it::expect_done(stalled.connection.get(), IBV_WC_RDMA_WRITE, it::context(i));
    }
    for (it::Sync& client : role.peers) {
        client.signal("written");
    }
    it::expect_closed(stalled.connection.get());
    it::expect_closed(other.connection.get());
}

void client(it::Role& role) {
    const bool stalls = role.number == 0;
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const it::Region region(peer.get(), stalls ? kLarge : kSmall, it::kUsualUsage);
    role.peer().await("listening");
    role.peer().await("connect");
    const it::Connection connection = it::establish(it::new_request(role, peer.get()));
    role.peer().give("region", it::describe(region.mr()));
    if (stalls) {
        role.peer().give("process", getpid());
    }
    role.peer().await("written", it::Deadline(std::chrono::seconds(60)));
    it::order_device_accesses();
    it::check_filled(region.bytes(), stalls ? 7 : kRounds - 1);
    it::disconnect(connection.get());
}
