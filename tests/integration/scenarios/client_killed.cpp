// SPDX-License-Identifier: BSD-3-Clause
// A client is killed in the middle of its writes: the server learns of it, its other connection
// goes on working, and the endpoint goes on taking requests.
#include <csignal>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {
constexpr std::size_t kSize = 4U << 20U;
constexpr std::size_t kDoomed = 0;  // number of the client that dies
constexpr std::size_t kLasting = 1;
}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), kSize, it::kUsualUsage);
    const it::Descriptor descriptor = it::describe(region.mr());
    const it::Endpoint endpoint = it::listen(role, peer.get());
    role.peers[kDoomed].signal("connect");
    const it::Connection doomed = it::accept(endpoint.get(), nullptr, descriptor);
    role.peers[kLasting].signal("connect");
    const it::Connection lasting = it::accept(endpoint.get(), nullptr, descriptor);

    role.peers[kDoomed].signal("go");
    role.peers[kDoomed].await_end();
    it::expect_closed_or_lost(doomed.get());
    role.peers[kLasting].signal("go");
    it::expect_closed(lasting.get());
    const it::Connection next = it::accept(endpoint.get(), nullptr, descriptor);
    it::expect_closed(next.get());
}

namespace {

it::Connection establish(const it::Role& role, rpma_peer* peer) {
    return it::establish(it::new_request(role, peer));
}

void post_write(rpma_conn* connection, rpma_mr_remote* remote, const it::Region& local) {
    CHECK_OK(rpma_write(connection, remote, 0, local.mr(), 0, kSize, RPMA_F_COMPLETION_ALWAYS,
                        it::context(1)));
}

void die_in_transfer(rpma_conn* connection, rpma_mr_remote* remote, const it::Region& local) {
    for (int round = 0; round < 5; ++round) {
        post_write(connection, remote, local);
        it::expect_done(connection, IBV_WC_RDMA_WRITE, it::context(1));
    }
    post_write(connection, remote, local);
    std::raise(SIGKILL);
}

void transfer(rpma_conn* connection, rpma_mr_remote* remote, const it::Region& local) {
    it::fill(local.bytes(), 3);
    post_write(connection, remote, local);
    it::expect_done(connection, IBV_WC_RDMA_WRITE, it::context(1));
    it::fill(local.bytes(), 4);
    CHECK_OK(rpma_read(connection, local.mr(), 0, remote, 0, kSize, RPMA_F_COMPLETION_ALWAYS,
                       it::context(2)));
    it::expect_done(connection, IBV_WC_RDMA_READ, it::context(2));
    it::check_filled(local.bytes(), 3);
    it::disconnect(connection);
}

}  // namespace

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const it::Region local(peer.get(), kSize, it::kUsualUsage);
    role.peer().await("listening");
    role.peer().await("connect");
    const it::Connection connection = establish(role, peer.get());
    const it::RemoteMr remote = it::remote_region(it::private_data(connection.get()));
    role.peer().await("go");
    if (role.number == kDoomed) {
        die_in_transfer(connection.get(), remote.get(), local);
    }
    transfer(connection.get(), remote.get(), local);
    const it::Connection again = establish(role, peer.get());
    const it::RemoteMr same = it::remote_region(it::private_data(again.get()));
    transfer(again.get(), same.get(), local);
}
