// SPDX-License-Identifier: BSD-3-Clause
// A shared receive queue with its own completion queue serves two connections; its completions tell
// which one by QP number.
#include <map>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kMessage = 1024;
constexpr std::size_t kMessages = 16;  // per client

it::Srq make_srq(rpma_peer* peer, std::uint32_t entries) {
    rpma_srq_cfg* raw_cfg = nullptr;
    CHECK_OK(rpma_srq_cfg_new(&raw_cfg));
    const it::SrqCfg cfg(raw_cfg);
    CHECK_OK(rpma_srq_cfg_set_rq_size(cfg.get(), entries));
    CHECK_OK(rpma_srq_cfg_set_rcq_size(cfg.get(), entries));
    rpma_srq* srq = nullptr;
    CHECK_OK(rpma_srq_new(peer, cfg.get(), &srq));
    return it::Srq(srq);
}

std::uint32_t qp_number(const it::Connection& connection) {
    std::uint32_t number = 0;
    CHECK_OK(rpma_conn_get_qp_num(connection.get(), &number));
    return number;
}

class Receiver {
public:
    Receiver(rpma_srq* srq, const it::Region& region, std::size_t count) : region_(region) {
        for (std::size_t slot = 0; slot < count; ++slot) {
            CHECK_OK(rpma_srq_recv(srq, region.mr(), slot * kMessage, kMessage, it::context(slot)));
        }
        CHECK_OK(rpma_srq_get_rcq(srq, &cq_));
        CHECK(cq_ != nullptr);
    }

    // Which client the message is of is in its first byte; the messages of one client come in
    // order.
    void take_one(const std::map<std::uint32_t, std::size_t>& client_of_qp) {
        const ibv_wc wc = it::next_completion(cq_);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.opcode, IBV_WC_RECV);
        CHECK_EQ(wc.byte_len, kMessage);
        const std::size_t client = client_of_qp.at(wc.qp_num);
        const std::uint64_t seed = client * 1000 + taken_[client]++;
        it::check_filled(region_.bytes(wc.wr_id * kMessage, kMessage), seed);
    }

private:
    const it::Region& region_;
    rpma_cq* cq_ = nullptr;
    std::map<std::size_t, std::uint64_t> taken_;
};

}  // namespace

void server(it::Role& role) {
    const std::size_t clients = role.peers.size();
    const std::size_t total = clients * kMessages;
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), total * kMessage, RPMA_MR_USAGE_RECV);
    const it::Srq srq = make_srq(peer.get(), static_cast<std::uint32_t>(total));
    Receiver receiver(srq.get(), region, total);
    const it::ConnCfg cfg = it::configure({});
    CHECK_OK(rpma_conn_cfg_set_srq(cfg.get(), srq.get()));
    const it::Endpoint endpoint = it::listen(role, peer.get());
    std::vector<it::Connection> connections;
    std::map<std::uint32_t, std::size_t> client_of_qp;
    for (std::size_t client = 0; client < clients; ++client) {
        role.peers[client].signal("connect");
        connections.push_back(it::accept(endpoint.get(), cfg.get()));
        CHECK(it::receive_cq(connections.back().get()) == nullptr);
        client_of_qp[qp_number(connections.back())] = client;
    }
    CHECK_EQ(client_of_qp.size(), clients);
    for (std::size_t message = 0; message < total; ++message) {
        receiver.take_one(client_of_qp);
    }
    for (std::size_t client = 0; client < clients; ++client) {
        role.peers[client].signal("all received");
        it::expect_closed(connections[client].get());
    }
}

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const it::Region region(peer.get(), kMessage, RPMA_MR_USAGE_SEND);
    role.peer().await("listening");
    role.peer().await("connect");
    const it::Connection connection = it::establish(it::new_request(role, peer.get()));
    for (std::uint64_t message = 0; message < kMessages; ++message) {
        it::fill(region.bytes(), role.number * 1000 + message);
        CHECK_OK(rpma_send(connection.get(), region.mr(), 0, kMessage, RPMA_F_COMPLETION_ALWAYS,
                           it::context(message)));
        it::expect_done(connection.get(), IBV_WC_SEND, it::context(message));
    }
    role.peer().await("all received");
    it::disconnect(connection.get());
}
