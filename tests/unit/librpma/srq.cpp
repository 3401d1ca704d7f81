// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queues: what is made, how connections use them, their life.
#include <cerrno>

#include "harness.hpp"

namespace {

using fake::world;

void a_shared_rq_is_made_with_defaults(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_srq* srq = nullptr;
    EXPECT_OK(rpma_srq_new(peer, nullptr, &srq));
    assert_int_equal(world.cq_sizes.at(0), 20);
    rpma_cq* rcq = nullptr;
    EXPECT_OK(rpma_srq_get_rcq(srq, &rcq));
    assert_non_null(rcq);
    EXPECT_OK(rpma_srq_delete(&srq));
    assert_null(srq);
    EXPECT_OK(rpma_peer_delete(&peer));
}

struct Shared {
    rpma_peer* peer = harness::make_peer();
    rpma_srq_cfg* srq_cfg = nullptr;
    rpma_conn_cfg* cfg = nullptr;
    rpma_srq* srq = nullptr;

    explicit Shared(uint32_t rcq_size) {
        EXPECT_OK(rpma_srq_cfg_new(&srq_cfg));
        EXPECT_OK(rpma_srq_cfg_set_rq_size(srq_cfg, 33));
        EXPECT_OK(rpma_srq_cfg_set_rcq_size(srq_cfg, rcq_size));
        EXPECT_OK(rpma_srq_new(peer, srq_cfg, &srq));
        EXPECT_OK(rpma_conn_cfg_new(&cfg));
        EXPECT_OK(rpma_conn_cfg_set_srq(cfg, srq));
    }
    ~Shared() {
        rpma_conn_cfg_delete(&cfg);
        rpma_srq_delete(&srq);
        rpma_srq_cfg_delete(&srq_cfg);
        rpma_peer_delete(&peer);
    }
};

void receives_complete_in_the_shared_rcq(void**) {
    const Shared s(44);
    assert_int_equal(world.cq_sizes.at(0), 44);
    EXPECT_OK(rpma_conn_cfg_set_rcq_size(s.cfg, 5));  // ignored
    rpma_conn* conn = harness::make_connection(s.peer, s.cfg);
    const ibv_qp_init_attr_ex& qp = world.qps.at(0);
    assert_non_null(qp.srq);
    assert_int_equal(static_cast<fake::Srq*>(qp.srq)->attributes.attr.max_wr, 33);
    assert_int_equal(static_cast<fake::Srq*>(qp.srq)->attributes.attr.max_sge, 1);
    assert_int_equal(static_cast<fake::Srq*>(qp.srq)->attributes.attr.srq_limit, 0);
    assert_ptr_not_equal(qp.recv_cq, qp.send_cq);
    assert_int_equal(world.live["cq"], 2);
    rpma_cq* rcq = harness::untouched<rpma_cq>();
    EXPECT_OK(rpma_conn_get_rcq(conn, &rcq));
    assert_null(rcq);
    EXPECT_OK(rpma_conn_delete(&conn));
}

void without_a_shared_rcq_the_connection_has_its_own(void**) {
    const Shared s(0);
    rpma_cq* rcq = harness::untouched<rpma_cq>();
    EXPECT_OK(rpma_srq_get_rcq(s.srq, &rcq));
    assert_null(rcq);
    EXPECT_OK(rpma_conn_cfg_set_rcq_size(s.cfg, 5));
    rpma_conn* conn = harness::make_connection(s.peer, s.cfg);
    EXPECT_OK(rpma_conn_get_rcq(conn, &rcq));
    assert_non_null(rcq);
    EXPECT_OK(rpma_conn_delete(&conn));
}

void a_shared_channel_cannot_be_combined(void**) {
    const Shared s(44);
    EXPECT_OK(rpma_conn_cfg_set_compl_channel(s.cfg, true));
    rpma_conn_req* req = harness::untouched<rpma_conn_req>();
    EXPECT_FAILS(RPMA_E_INVAL, rpma_conn_req_new(s.peer, "a", "1", s.cfg, &req),
                 "shared completion channel");
    assert_ptr_equal(req, harness::untouched<rpma_conn_req>());
}

void the_shared_rq_outlives_its_connections(void**) {
    Shared s(44);
    rpma_conn_req* req = harness::make_request(s.peer, s.cfg);
    rpma_conn* conn = harness::make_connection(s.peer, s.cfg);
    EXPECT_OK(rpma_srq_delete(&s.srq));
    EXPECT_OK(rpma_conn_cfg_delete(&s.cfg));
    assert_int_equal(world.live["srq"], 1);
    EXPECT_OK(rpma_conn_req_delete(&req));
    assert_int_equal(world.live["srq"], 1);
    EXPECT_OK(rpma_conn_delete(&conn));
    assert_int_equal(world.live["srq"], 0);
}

void receives_are_posted(void**) {
    const Shared s(44);
    char memory[64];
    rpma_mr_local* region = harness::make_region(s.peer, memory, 64, RPMA_MR_USAGE_RECV);
    EXPECT_OK(rpma_srq_recv(s.srq, region, 8, 56, reinterpret_cast<void*>(9)));
    EXPECT_OK(rpma_srq_recv(s.srq, nullptr, 0, 0, reinterpret_cast<void*>(10)));
    assert_int_equal(world.recvs.at(0).wr_id, 9);
    assert_true(world.recvs.at(0).shared);
    assert_int_equal(world.recvs.at(0).sge.addr, reinterpret_cast<std::uintptr_t>(memory) + 8);
    assert_int_equal(world.recvs.at(0).sge.length, 56);
    assert_int_equal(world.recvs.at(0).sge.lkey, world.mrs.at(0)->lkey);
    assert_int_equal(world.recvs.at(1).wr_id, 10);
    assert_int_equal(world.recvs.at(1).num_sge, 0);
    world.post_result = ENOMEM;
    assert_int_equal(rpma_srq_recv(s.srq, region, 0, 1, nullptr), RPMA_E_AGAIN);
    assert_int_equal(rpma_srq_recv(s.srq, nullptr, 0, 0, nullptr), RPMA_E_AGAIN);
    world.post_result = EINVAL;
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_srq_recv(s.srq, region, 0, 1, nullptr), "EINVAL");
    world.post_result = 0;
    EXPECT_OK(rpma_mr_dereg(&region));
}

/// Some providers say "full" to a receive that belongs to the shared queue; it never helps to wait.
void a_receive_of_the_shared_queue_is_not_for_the_connection(void**) {
    const Shared s(44);
    char memory[64];
    rpma_mr_local* region = harness::make_region(s.peer, memory, 64, RPMA_MR_USAGE_RECV);
    rpma_conn* conn = harness::make_connection(s.peer, s.cfg);
    rpma_conn_req* req = harness::make_request(s.peer, s.cfg);
    for (const int err : {ENOMEM, EINVAL}) {
        world.post_result = err;
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_recv(conn, region, 0, 64, nullptr), "rpma_srq_recv()");
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_recv(conn, nullptr, 0, 0, nullptr), "rpma_srq_recv()");
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_req_recv(req, region, 0, 64, nullptr),
                     "rpma_srq_recv()");
        assert_int_equal(errno, EINVAL);
    }
    world.post_result = 0;
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_recv(conn, region, 0, 64, nullptr), "shared receive queue");
    assert_int_equal(world.recvs.size(), 0);
    EXPECT_OK(rpma_srq_recv(s.srq, region, 0, 64, nullptr));
    EXPECT_OK(rpma_conn_req_delete(&req));
    EXPECT_OK(rpma_conn_delete(&conn));
    EXPECT_OK(rpma_mr_dereg(&region));
}

void queues_that_are_refused_come_with_advice(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_srq* srq = harness::untouched<rpma_srq>();
    for (const char* call : {"ibv_create_srq", "ibv_create_cq"}) {
        world.fail(call, 1, EINVAL);
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_srq_new(peer, nullptr, &srq), "ibv_devinfo -v");
        world.fail(call, 1, ENOMEM);
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_srq_new(peer, nullptr, &srq), "ulimit -l");
    }
    rpma_conn_req* req = harness::untouched<rpma_conn_req>();
    world.fail("rdma_create_qp_ex", 1, EINVAL);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_req_new(peer, "a", "1", nullptr, &req),
                 "ibv_devinfo -v");
    world.fail("ibv_create_comp_channel", 1, EMFILE);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_req_new(peer, "a", "1", nullptr, &req), "ulimit -n");
    EXPECT_OK(rpma_peer_delete(&peer));
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(a_shared_rq_is_made_with_defaults),
        TEST(receives_complete_in_the_shared_rcq),
        TEST(without_a_shared_rcq_the_connection_has_its_own),
        TEST(a_shared_channel_cannot_be_combined),
        TEST(the_shared_rq_outlives_its_connections),
        TEST(receives_are_posted),
        TEST(a_receive_of_the_shared_queue_is_not_for_the_connection),
        TEST(queues_that_are_refused_come_with_advice),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
