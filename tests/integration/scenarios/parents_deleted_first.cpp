// SPDX-License-Identifier: BSD-3-Clause
// Parents may go before their children: the peer before regions and connections, the endpoint
// before the request taken from it is answered, the shared receive queue and the configuration
// before the connection. What is left works, and nothing leaks.
#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = 4096;

struct SharedQueue {
    it::Srq srq;
    it::ConnCfg cfg;
};

SharedQueue share_queue(rpma_peer* peer) {
    rpma_srq* srq = nullptr;
    CHECK_OK(rpma_srq_new(peer, nullptr, &srq));
    it::ConnCfg cfg = it::configure({});
    CHECK_OK(rpma_conn_cfg_set_srq(cfg.get(), srq));
    return {it::Srq(srq), std::move(cfg)};
}

// Receives are posted while there is still something to post them to.
void post_receives(const it::Region& region, const SharedQueue& shared) {
    for (std::uint64_t number = 0; number < 4; ++number) {
        CHECK_OK(
            rpma_srq_recv(shared.srq.get(), region.mr(), number * 64, 64, it::context(number)));
    }
}

}  // namespace

void server(it::Role& role) {
    it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), kSize, it::kUsualUsage);
    SharedQueue shared = share_queue(peer.get());
    post_receives(region, shared);
    it::Endpoint endpoint = it::listen(role, peer.get());
    it::Request request = it::next_request(endpoint.get(), shared.cfg.get());
    endpoint.reset();
    shared.cfg.reset();
    shared.srq.reset();
    peer.reset();
    const it::Connection connection = it::establish(std::move(request), it::describe(region.mr()));
    role.peer().await("sent");
    it::check_filled(region.bytes(0, 64), 1);    // came as a message
    it::check_filled(region.bytes(512, 64), 2);  // was written
    role.peer().signal("seen");
    it::expect_closed(connection.get());
}

void client(it::Role& role) {
    it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const it::Region local(peer.get(), kSize, it::kUsualUsage);
    role.peer().await("listening");
    it::Request request = it::new_request(role, peer.get());
    peer.reset();
    const it::Connection connection = it::establish(std::move(request));
    const it::RemoteMr remote = it::remote_region(it::private_data(connection.get()));
    it::fill(local.bytes(0, 64), 1);
    it::fill(local.bytes(64, 64), 2);
    CHECK_OK(rpma_write(connection.get(), remote.get(), 512, local.mr(), 64, 64,
                        RPMA_F_COMPLETION_ON_ERROR, nullptr));
    CHECK_OK(
        rpma_send(connection.get(), local.mr(), 0, 64, RPMA_F_COMPLETION_ALWAYS, it::context(1)));
    it::expect_done(connection.get(), IBV_WC_SEND, it::context(1));
    role.peer().signal("sent");
    role.peer().await("seen");
    it::disconnect(connection.get());
}
