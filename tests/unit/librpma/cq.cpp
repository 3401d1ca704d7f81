// SPDX-License-Identifier: BSD-3-Clause
// Completion queues: waiting, collecting, the shared channel.
#include <cerrno>

#include "harness.hpp"

namespace {

using fake::world;

struct Queue {
    rpma_peer* peer = harness::make_peer();
    rpma_conn_cfg* cfg = nullptr;
    rpma_conn* conn = nullptr;
    rpma_cq* cq = nullptr;
    rpma_cq* rcq = nullptr;
    ibv_cq *verbs = nullptr, *receive_verbs = nullptr;

    explicit Queue(bool shared, uint32_t rcq_size) {
        EXPECT_OK(rpma_conn_cfg_new(&cfg));
        EXPECT_OK(rpma_conn_cfg_set_compl_channel(cfg, shared));
        EXPECT_OK(rpma_conn_cfg_set_rcq_size(cfg, rcq_size));
        conn = harness::make_connection(peer, cfg);
        EXPECT_OK(rpma_conn_get_cq(conn, &cq));
        EXPECT_OK(rpma_conn_get_rcq(conn, &rcq));
        verbs = world.qps.back().send_cq;
        receive_verbs = world.qps.back().recv_cq;
    }
    ~Queue() {
        rpma_conn_delete(&conn);
        rpma_conn_cfg_delete(&cfg);
        rpma_peer_delete(&peer);
    }
};

int armed(ibv_cq* cq) {
    return static_cast<fake::Cq*>(cq)->armed;
}

void waiting_takes_an_event_and_arms_again(void**) {
    const Queue q(false, 0);
    assert_null(q.rcq);
    assert_int_equal(armed(q.verbs), 1);  // armed when made
    errno = 0;
    assert_int_equal(rpma_cq_wait(q.cq), RPMA_E_NO_COMPLETION);
    assert_int_equal(errno, EAGAIN);
    fake::push_cq_event(q.verbs);
    EXPECT_OK(rpma_cq_wait(q.cq));
    assert_int_equal(armed(q.verbs), 2);
    assert_int_equal(static_cast<fake::Cq*>(q.verbs)->unacked, 0);
    world.fail("ibv_get_cq_event", 1, EINTR);
    assert_int_equal(rpma_cq_wait(q.cq), RPMA_E_NO_COMPLETION);
    assert_int_equal(errno, EINTR);
    assert_int_equal(harness::lines.size(), 0);  // neither is a fault
    world.fail("ibv_get_cq_event", 1, EIO);
    EXPECT_FAILS(RPMA_E_NO_COMPLETION, rpma_cq_wait(q.cq), "ibv_get_cq_event failed: Input");
    assert_int_equal(errno, EIO);
    fake::push_cq_event(q.verbs);
    world.fail("req_notify_cq", 1, EIO);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_cq_wait(q.cq), "ibv_req_notify_cq");
    assert_int_equal(static_cast<fake::Cq*>(q.verbs)->unacked, 0);
}

void completions_are_collected(void**) {
    const Queue q(false, 0);
    ibv_wc wc[4] = {};
    int got = 77;
    assert_int_equal(rpma_cq_get_wc(q.cq, 1, wc, nullptr), RPMA_E_NO_COMPLETION);
    assert_int_equal(rpma_cq_get_wc(q.cq, 4, wc, &got), RPMA_E_NO_COMPLETION);
    assert_int_equal(got, 77);
    for (std::uint64_t i = 1; i <= 5; ++i) {
        ibv_wc one = {};
        one.wr_id = i;
        one.status = i == 2 ? IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS;
        fake::push_completion(q.verbs, one);
    }
    EXPECT_OK(rpma_cq_get_wc(q.cq, 1, wc, nullptr));
    assert_int_equal(wc[0].wr_id, 1);
    EXPECT_OK(rpma_cq_get_wc(q.cq, 1, wc, &got));
    assert_int_equal(got, 1);
    assert_int_equal(wc[0].status, IBV_WC_REM_ACCESS_ERR);
    EXPECT_OK(rpma_cq_get_wc(q.cq, 4, wc, &got));
    assert_int_equal(got, 3);
    assert_int_equal(wc[2].wr_id, 5);
    assert_int_equal(harness::lines.size(), 0);
}

void failing_polls_have_their_codes(void**) {
    const Queue q(false, 0);
    ibv_wc wc[4] = {};
    int got = 77;
    for (int* out : {&got, static_cast<int*>(nullptr)}) {
        world.poll_result = -EIO;
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_cq_get_wc(q.cq, 1, wc, out), "EIO");
        world.poll_result = 2;
        EXPECT_FAILS(RPMA_E_UNKNOWN, rpma_cq_get_wc(q.cq, 1, wc, out), "2 completions of 1");
    }
    assert_int_equal(got, 77);
    // Codes of a provider's own are no errno values, and errno is of some other call.
    for (const int code : {-1, -2}) {
        world.poll_result = code;
        errno = EAGAIN;
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_cq_get_wc(q.cq, 1, wc, nullptr),
                     "ibv_poll_cq gave " + std::to_string(code) + ": no known reason");
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_cq_get_wc(q.cq, 4, wc, &got), "delete its connections");
    }
    world.poll_result = 0;
}

void a_queue_has_its_own_descriptor(void**) {
    const Queue q(false, 4);
    int one = -1;
    int two = -1;
    EXPECT_OK(rpma_cq_get_fd(q.cq, &one));
    EXPECT_OK(rpma_cq_get_fd(q.rcq, &two));
    assert_true(one >= 0 && two >= 0 && one != two);
    assert_int_equal(one, q.verbs->channel->fd);
    int fd = 77;
    EXPECT_FAILS(RPMA_E_NOT_SHARED_CHNL, rpma_conn_get_compl_fd(q.conn, &fd), "not shared");
    assert_int_equal(fd, 77);
    rpma_cq* cq = harness::untouched<rpma_cq>();
    EXPECT_FAILS(RPMA_E_NOT_SHARED_CHNL, rpma_conn_wait(q.conn, 0, &cq, nullptr), "rpma_cq_wait");
    assert_ptr_equal(cq, harness::untouched<rpma_cq>());
}

void a_shared_channel_serves_both_queues(void**) {
    const Queue q(true, 4);
    assert_int_equal(world.live["comp_channel"], 1);
    int one = -1;
    int two = -1;
    int both = -1;
    EXPECT_OK(rpma_cq_get_fd(q.cq, &one));
    EXPECT_OK(rpma_cq_get_fd(q.rcq, &two));
    EXPECT_OK(rpma_conn_get_compl_fd(q.conn, &both));
    assert_true(one == two && two == both);
    EXPECT_FAILS(RPMA_E_SHARED_CHANNEL, rpma_cq_wait(q.cq), "rpma_conn_wait");
    EXPECT_FAILS(RPMA_E_SHARED_CHANNEL, rpma_cq_wait(q.rcq), "rpma_conn_wait");
    harness::lines.clear();
    fake::push_cq_event(q.receive_verbs);
    fake::push_cq_event(q.verbs);
    rpma_cq* cq = nullptr;
    bool is_rcq = false;
    EXPECT_OK(rpma_conn_wait(q.conn, RPMA_W_WAIT_FOR_COMPLETION, &cq, &is_rcq));
    assert_ptr_equal(cq, q.rcq);
    assert_true(is_rcq);
    assert_int_equal(armed(q.receive_verbs), 2);
    EXPECT_OK(rpma_conn_wait(q.conn, 0, &cq, &is_rcq));
    assert_ptr_equal(cq, q.cq);
    assert_false(is_rcq);
    cq = harness::untouched<rpma_cq>();
    assert_int_equal(rpma_conn_wait(q.conn, 0, &cq, &is_rcq), RPMA_E_NO_COMPLETION);
    assert_int_equal(errno, EAGAIN);
    assert_ptr_equal(cq, harness::untouched<rpma_cq>());
    assert_int_equal(harness::lines.size(), 0);
    world.fail("ibv_get_cq_event", 1, EIO);
    EXPECT_FAILS(RPMA_E_NO_COMPLETION, rpma_conn_wait(q.conn, 0, &cq, &is_rcq), "EIO");
    assert_ptr_equal(cq, harness::untouched<rpma_cq>());
    fake::push_cq_event(q.receive_verbs);
    EXPECT_OK(rpma_conn_wait(q.conn, 0, &cq, nullptr));
}

void arming_can_fail_on_a_shared_channel(void**) {
    const Queue q(true, 4);
    rpma_cq* cq = harness::untouched<rpma_cq>();
    bool is_rcq = false;
    fake::push_cq_event(q.receive_verbs);
    world.fail("req_notify_cq", 1, EIO);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_wait(q.conn, 0, &cq, &is_rcq), "EIO");
    assert_null(cq);
    assert_true(is_rcq);
}

void foreign_events_are_acknowledged(void**) {
    const Queue q(true, 0);
    const Queue other(false, 0);
    static_cast<fake::CompChannel*>(q.verbs->channel)->events.push_back(other.verbs);
    rpma_cq* cq = harness::untouched<rpma_cq>();
    bool is_rcq = true;
    EXPECT_FAILS(RPMA_E_UNKNOWN, rpma_conn_wait(q.conn, 0, &cq, &is_rcq), "not the connection's");
    assert_ptr_equal(cq, harness::untouched<rpma_cq>());
    assert_true(is_rcq);
    assert_int_equal(static_cast<fake::Cq*>(other.verbs)->unacked, 0);
}

void sizes_above_int_max_are_cut(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn_cfg* cfg = nullptr;
    EXPECT_OK(rpma_conn_cfg_new(&cfg));
    EXPECT_OK(rpma_conn_cfg_set_cq_size(cfg, UINT32_MAX));
    EXPECT_OK(rpma_conn_cfg_set_rcq_size(cfg, 0x80000000));
    rpma_conn_req* req = harness::make_request(peer, cfg);
    assert_int_equal(world.cq_sizes.at(0), INT32_MAX);
    assert_int_equal(world.cq_sizes.at(1), INT32_MAX);
    EXPECT_OK(rpma_conn_req_delete(&req));
    EXPECT_OK(rpma_conn_cfg_delete(&cfg));
    EXPECT_OK(rpma_peer_delete(&peer));
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(waiting_takes_an_event_and_arms_again), TEST(completions_are_collected),
        TEST(failing_polls_have_their_codes),        TEST(a_queue_has_its_own_descriptor),
        TEST(a_shared_channel_serves_both_queues),   TEST(arming_can_fail_on_a_shared_channel),
        TEST(foreign_events_are_acknowledged),       TEST(sizes_above_int_max_are_cut),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
