// SPDX-License-Identifier: BSD-3-Clause
// A region registered for receiving only takes a message; one registered for sending only, posted
// as a receive, ends in an error and stays as it was.
#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {
constexpr std::size_t kSize = 64;
}

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region receive_only(peer.get(), kSize, RPMA_MR_USAGE_RECV);
    const it::Region send_only(peer.get(), kSize, RPMA_MR_USAGE_SEND);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    const it::Connection connection = it::accept(endpoint.get());
    CHECK_OK(rpma_recv(connection.get(), receive_only.mr(), 0, kSize, it::context(1)));
    CHECK_OK(rpma_recv(connection.get(), send_only.mr(), 0, kSize, it::context(2)));
    role.peer().signal("posted");
    CHECK_EQ(it::expect_done(connection.get(), IBV_WC_RECV, it::context(1)).byte_len, kSize);
    it::check_filled(receive_only.bytes(), 4);
    const ibv_wc wc = it::next_completion(it::main_cq(connection.get()));
    CHECK_EQ(wc.wr_id, 2);
    // rdma_rxe has the less telling one of the two.
    CHECK(wc.status == IBV_WC_LOC_PROT_ERR ||
          (!it::on_fabric() && wc.status == IBV_WC_LOC_QP_OP_ERR));
    it::check_all(send_only.bytes(), std::byte{0});
    role.peer().signal("checked");
    it::expect_closed_or_lost(connection.get());
}

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const it::Region local(peer.get(), kSize, RPMA_MR_USAGE_SEND);
    const it::Connection connection = it::connect(role, peer.get());
    it::fill(local.bytes(), 4);
    role.peer().await("posted");
    CHECK_OK(rpma_send(connection.get(), local.mr(), 0, kSize, RPMA_F_COMPLETION_ALWAYS,
                       it::context(1)));
    it::expect_done(connection.get(), IBV_WC_SEND, it::context(1));
    CHECK_OK(rpma_send(connection.get(), local.mr(), 0, kSize, RPMA_F_COMPLETION_ALWAYS,
                       it::context(2)));
    const ibv_wc wc = it::next_completion(it::main_cq(connection.get()));
    CHECK_EQ(wc.wr_id, 2);
    CHECK_EQ(wc.status, IBV_WC_REM_OP_ERR);
    role.peer().await("checked");
    CHECK_OK(rpma_conn_disconnect(connection.get()));
}
