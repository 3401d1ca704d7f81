// SPDX-License-Identifier: BSD-3-Clause
#include "cases.hpp"

namespace entry_points {

Objects::Objects() {
    EXPECT_OK(rpma_peer_cfg_new(&pcfg));
    EXPECT_OK(rpma_conn_cfg_new(&cfg));
    EXPECT_OK(rpma_srq_cfg_new(&srq_cfg));
    EXPECT_OK(rpma_srq_new(peer, nullptr, &srq));
    EXPECT_OK(rpma_conn_cfg_new(&shared_cfg));
    EXPECT_OK(rpma_conn_cfg_set_compl_channel(shared_cfg, true));
    EXPECT_OK(rpma_conn_cfg_new(&contradictory_cfg));
    EXPECT_OK(rpma_conn_cfg_set_compl_channel(contradictory_cfg, true));
    EXPECT_OK(rpma_conn_cfg_set_srq(contradictory_cfg, srq));
    EXPECT_OK(rpma_ep_listen(peer, "192.0.2.1", "7204", &ep));
    listener = fake::last_id();
    EXPECT_OK(rpma_conn_get_cq(conn, &cq));
    verbs_cq = fake::world.qps.back().send_cq;
    shared_conn = harness::make_connection(peer, shared_cfg);
    EXPECT_OK(rpma_conn_get_cq(shared_conn, &shared_cq));
    shared_verbs_cq = fake::world.qps.back().send_cq;
}

Objects::~Objects() {
    EXPECT_OK(rpma_mr_remote_delete(&unflushable));
    EXPECT_OK(rpma_mr_remote_delete(&remote));
    EXPECT_OK(rpma_mr_dereg(&local));
    EXPECT_OK(rpma_conn_delete(&shared_conn));
    EXPECT_OK(rpma_conn_delete(&conn));
    EXPECT_OK(rpma_conn_req_delete(&req));
    EXPECT_OK(rpma_ep_shutdown(&ep));
    EXPECT_OK(rpma_conn_cfg_delete(&contradictory_cfg));
    EXPECT_OK(rpma_conn_cfg_delete(&shared_cfg));
    EXPECT_OK(rpma_srq_delete(&srq));
    EXPECT_OK(rpma_srq_cfg_delete(&srq_cfg));
    EXPECT_OK(rpma_conn_cfg_delete(&cfg));
    EXPECT_OK(rpma_peer_cfg_delete(&pcfg));
    EXPECT_OK(rpma_peer_delete(&peer));
}

bool Outputs::same() const {
    const Outputs fresh;
    return peer == fresh.peer && pcfg == fresh.pcfg && cfg == fresh.cfg &&
           srq_cfg == fresh.srq_cfg && local == fresh.local && remote == fresh.remote &&
           srq == fresh.srq && ep == fresh.ep && req == fresh.req && conn == fresh.conn &&
           cq == fresh.cq && context == fresh.context && number == fresh.number &&
           u32 == fresh.u32 && size == fresh.size && flag && bytes[0] == 0x5a &&
           event == fresh.event && pdata.ptr == this && pdata.len == 77;
}

bool Doomed::gone() const {
    return peer == nullptr && local == nullptr && cfg == nullptr && srq == nullptr &&
           ep == nullptr && req == nullptr && conn == nullptr && cq == nullptr;
}

}  // namespace entry_points
