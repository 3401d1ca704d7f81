// SPDX-License-Identifier: BSD-3-Clause
// The state machine of a queue pair, by the table of ibv_modify_qp(3).
#include <array>
#include <cerrno>

#include "cmocka.hpp"
#include "queue_pairs.hpp"
#include "verbs/limits.hpp"
#include "verbs/qp_transition.hpp"

using fabric::verbs::transition_allowed;
using verbs_test::Device;
using verbs_test::kInitMask;
using verbs_test::kRtrMask;
using verbs_test::kRtsMask;
using verbs_test::Node;

namespace {

constexpr std::array kStates = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
                                IBV_QPS_SQD,   IBV_QPS_SQE,  IBV_QPS_ERR};

void required_attributes(void**) {
    const struct {
        ibv_qp_state from;
        ibv_qp_state to;
        int mask;
    } steps[] = {{IBV_QPS_RESET, IBV_QPS_INIT, kInitMask},
                 {IBV_QPS_INIT, IBV_QPS_RTR, kRtrMask},
                 {IBV_QPS_RTR, IBV_QPS_RTS, kRtsMask}};
    for (const auto& step : steps) {
        assert_true(transition_allowed(step.from, step.to, step.mask));
        for (int bit = 1; bit < 1 << 25; bit <<= 1) {
            if (bit == IBV_QP_STATE)
                continue;
            if ((step.mask & bit) != 0)
                assert_false(transition_allowed(step.from, step.to, step.mask & ~bit));
        }
        assert_false(transition_allowed(step.from, step.to, step.mask | IBV_QP_QKEY));
    }
}

void steps_that_do_not_exist(void**) {
    assert_false(transition_allowed(IBV_QPS_RESET, IBV_QPS_RTR, kRtrMask));
    assert_false(transition_allowed(IBV_QPS_RESET, IBV_QPS_RTS, kRtsMask));
    assert_false(transition_allowed(IBV_QPS_INIT, IBV_QPS_RTS, kRtsMask));
    assert_false(transition_allowed(IBV_QPS_ERR, IBV_QPS_INIT, kInitMask));
    assert_false(transition_allowed(IBV_QPS_RTS, IBV_QPS_RTR, kRtrMask));
    assert_false(transition_allowed(IBV_QPS_ERR, IBV_QPS_RTS, IBV_QP_STATE));
    assert_false(transition_allowed(IBV_QPS_INIT, IBV_QPS_SQD, IBV_QP_STATE));
}

// But for one step that the kernel does not have either.
void reset_and_error_from_everywhere(void**) {
    for (const ibv_qp_state from : kStates)
        for (const ibv_qp_state to : {IBV_QPS_RESET, IBV_QPS_ERR}) {
            const bool exists = from != IBV_QPS_RESET || to != IBV_QPS_ERR;
            assert_int_equal(transition_allowed(from, to, IBV_QP_STATE), exists);
            assert_false(transition_allowed(from, to, IBV_QP_STATE | IBV_QP_PORT));
        }
}

void optional_attributes(void**) {
    assert_true(transition_allowed(IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_MIN_RNR_TIMER));
    assert_true(transition_allowed(IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS));
    assert_true(transition_allowed(IBV_QPS_RTR, IBV_QPS_RTS, kRtsMask | IBV_QP_CUR_STATE));
    assert_true(transition_allowed(IBV_QPS_INIT, IBV_QPS_INIT, IBV_QP_ACCESS_FLAGS));
    assert_true(transition_allowed(IBV_QPS_RTS, IBV_QPS_SQD, IBV_QP_STATE));
    assert_true(transition_allowed(IBV_QPS_SQD, IBV_QPS_RTS, IBV_QP_STATE));
    assert_false(transition_allowed(IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_TIMEOUT));
}

void a_refused_step_changes_nothing(void**) {
    Device device;
    Node node(device);
    ibv_qp_attr attr = verbs_test::init_attributes();
    assert_int_equal(ibv_modify_qp(node.qp, &attr, kInitMask & ~IBV_QP_PORT), EINVAL);
    assert_int_equal(node.state(), IBV_QPS_RESET);
    attr.port_num = 2;
    assert_int_equal(ibv_modify_qp(node.qp, &attr, kInitMask), EINVAL);
    attr.port_num = 1;
    attr.pkey_index = 1;
    assert_int_equal(ibv_modify_qp(node.qp, &attr, kInitMask), EINVAL);
    assert_int_equal(node.qp->state, IBV_QPS_RESET);
    node.to_init();
    assert_int_equal(node.state(), IBV_QPS_INIT);
    assert_int_equal(node.qp->state, IBV_QPS_INIT);
}

void values_out_of_range(void**) {
    Device device;
    Node node(device);
    node.to_init();
    const auto refused = [&](auto change, int mask = kRtrMask) {
        ibv_qp_attr attr = verbs_test::rtr_attributes(node.qp->qp_num, 0);
        change(attr);
        assert_int_equal(ibv_modify_qp(node.qp, &attr, mask), EINVAL);
    };
    refused([](ibv_qp_attr& a) { a.path_mtu = static_cast<ibv_mtu>(6); });
    refused([](ibv_qp_attr& a) { a.path_mtu = static_cast<ibv_mtu>(0); });
    refused([](ibv_qp_attr& a) { a.dest_qp_num = 1 << 24; });
    refused([](ibv_qp_attr& a) { a.min_rnr_timer = 32; });
    refused(
        [](ibv_qp_attr& a) { a.max_dest_rd_atomic = fabric::verbs::limits::kMaxReadAtomic + 1; });
    refused([](ibv_qp_attr& a) { a.ah_attr.is_global = 0; });
    refused([](ibv_qp_attr& a) { a.cur_qp_state = IBV_QPS_RTS; }, kRtrMask | IBV_QP_CUR_STATE);
    assert_int_equal(node.state(), IBV_QPS_INIT);
}

// The index of a GID decides over which address packets go, so it has to be one.
void indices_of_no_gid(void**) {
    Device device;
    Node node(device);
    node.to_init();
    ibv_qp_attr attr = verbs_test::rtr_attributes(node.qp->qp_num, 0);
    attr.ah_attr.grh.sgid_index = 255;
    assert_int_equal(ibv_modify_qp(node.qp, &attr, kRtrMask), ENODATA);
    assert_int_equal(node.state(), IBV_QPS_INIT);
    attr.ah_attr.grh.sgid_index = 0;
    attr.ah_attr.port_num = 0;
    assert_int_equal(ibv_modify_qp(node.qp, &attr, kRtrMask), EINVAL);
    attr.ah_attr.port_num = 1;
    assert_int_equal(ibv_modify_qp(node.qp, &attr, kRtrMask), 0);
}

void what_was_set_can_be_queried(void**) {
    Device device;
    Node a(device);
    Node b(device);
    verbs_test::connect(a, b);
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    assert_int_equal(ibv_query_qp(a.qp, &attr, 0, &init), 0);
    assert_int_equal(attr.qp_state, IBV_QPS_RTS);
    assert_int_equal(attr.dest_qp_num, b.qp->qp_num);
    assert_int_equal(attr.path_mtu, IBV_MTU_1024);
    assert_int_equal(attr.rq_psn, verbs_test::first_psn(b.qp));
    assert_int_equal(attr.sq_psn, verbs_test::first_psn(a.qp));
    assert_int_equal(attr.timeout, 14);
    assert_int_equal(attr.cap.max_send_wr, 16);
    assert_ptr_equal(init.send_cq, a.cq);
    assert_int_equal(init.qp_type, IBV_QPT_RC);
}

void sizes_out_of_range(void**) {
    Device device;
    ibv_cq* const cq = device.make_cq();
    const auto refused = [&](auto change) {
        ibv_qp_init_attr init{};
        init.send_cq = init.recv_cq = cq;
        init.cap = {4, 4, 1, 1, 0};
        init.qp_type = IBV_QPT_RC;
        change(init);
        errno = 0;
        assert_null(ibv_create_qp(device.pd, &init));
        assert_int_equal(errno, EINVAL);
    };
    refused([](ibv_qp_init_attr& i) { i.cap.max_send_wr = 1 << 20; });
    refused([](ibv_qp_init_attr& i) { i.cap.max_recv_wr = 1 << 20; });
    refused([](ibv_qp_init_attr& i) { i.cap.max_send_sge = 33; });
    refused([](ibv_qp_init_attr& i) { i.cap.max_recv_sge = 33; });
    refused([](ibv_qp_init_attr& i) { i.cap.max_inline_data = 1 << 20; });
    refused([](ibv_qp_init_attr& i) { i.send_cq = nullptr; });
    refused([](ibv_qp_init_attr& i) { i.recv_cq = nullptr; });
    assert_int_equal(ibv_destroy_cq(cq), 0);
}

void posting_needs_the_right_state(void**) {
    Device device;
    Node node(device);
    assert_int_equal(node.post_receive(1, 8), EINVAL);
    node.to_init();
    assert_int_equal(node.post_receive(1, 8), 0);
    assert_int_equal(node.post_send(1, 8), EINVAL);
}

void the_error_state_flushes_and_reset_forgets(void**) {
    Device device;
    Node node(device);
    node.to_init();
    assert_int_equal(node.post_receive(1, 8), 0);
    assert_int_equal(node.post_receive(2, 8), 0);
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_ERR;
    assert_int_equal(ibv_modify_qp(node.qp, &attr, IBV_QP_STATE), 0);
    const ibv_wc wc = node.next();
    assert_int_equal(wc.wr_id, 1);
    assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
    attr.qp_state = IBV_QPS_RESET;
    assert_int_equal(ibv_modify_qp(node.qp, &attr, IBV_QP_STATE), 0);
    ibv_wc none{};
    assert_int_equal(ibv_poll_cq(node.cq, 1, &none), 0);
    node.to_init();
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(required_attributes),
        cmocka_unit_test(steps_that_do_not_exist),
        cmocka_unit_test(reset_and_error_from_everywhere),
        cmocka_unit_test(optional_attributes),
        cmocka_unit_test(a_refused_step_changes_nothing),
        cmocka_unit_test(values_out_of_range),
        cmocka_unit_test(indices_of_no_gid),
        cmocka_unit_test(what_was_set_can_be_queried),
        cmocka_unit_test(sizes_out_of_range),
        cmocka_unit_test(posting_needs_the_right_state),
        cmocka_unit_test(the_error_state_flushes_and_reset_forgets),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
