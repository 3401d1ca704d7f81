// SPDX-License-Identifier: BSD-3-Clause
// Many client processes at once, all connecting at the same moment, each with its own part of one
// region.
#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kPart = 1U << 16U;
constexpr std::uint64_t kRounds = 10;

std::vector<it::Connection> accept_all(rpma_ep* endpoint, std::size_t count,
                                       it::ConstBytes descriptor) {
    std::vector<it::Connection> connections;
    while (connections.size() < count) {
        connections.push_back(it::accept(endpoint, nullptr, descriptor));
    }
    return connections;
}

}  // namespace

void server(it::Role& role) {
    const std::size_t clients = role.peers.size();
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), clients * kPart, it::kUsualUsage);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    for (it::Sync& client : role.peers) {
        client.await("ready to connect");
    }
    for (it::Sync& client : role.peers) {
        client.signal("connect");
    }
    const std::vector<it::Connection> connections =
        accept_all(endpoint.get(), clients, it::describe(region.mr()));
    for (it::Sync& client : role.peers) {
        client.await("written");
    }
    for (std::size_t number = 0; number < clients; ++number) {
        it::check_filled(region.bytes(number * kPart, kPart), number * 1000 + kRounds - 1);
        role.peers[number].signal("checked");
    }
    for (const it::Connection& connection : connections) {
        it::expect_closed(connection.get());
    }
}

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    role.peer().await("listening");
    role.peer().signal("ready to connect");
    role.peer().await("connect");
    it::Connection connection = it::establish(it::new_request(role, peer.get()));
    it::RemoteMr remote = it::remote_region(it::private_data(connection.get()));
    it::Region scratch(peer.get(), 2 * kPart, it::kUsualUsage);
    const it::Attached attached{it::Peer(), std::move(scratch), std::move(connection),
                                std::move(remote)};
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        it::fill(attached.local.bytes(0, kPart), role.number * 1000 + round);
        attached.write(role.number * kPart, 0, kPart);
        attached.flush(role.number * kPart, kPart);
        attached.read(kPart, role.number * kPart, kPart);
        it::check_filled(attached.local.bytes(kPart, kPart), role.number * 1000 + round);
    }
    role.peer().signal("written");
    role.peer().await("checked");
    it::disconnect(attached.conn());
}
