// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>

#include <cerrno>
#include <optional>

#include "cmocka.hpp"
#include "queue_pairs.hpp"
#include "verbs/limits.hpp"
#include "waiting.hpp"

using verbs_test::Device;
using verbs_test::Node;

namespace {

struct Fixture {
    Device device;
    std::optional<Node> memory;  // memory for the requests
    ibv_srq* srq = nullptr;

    explicit Fixture(std::uint32_t requests) {
        memory.emplace(device);
        ibv_srq_init_attr init{};
        init.attr = {requests, 2, 0};
        srq = ibv_create_srq(device.pd, &init);
        assert_non_null(srq);
        assert_int_equal(fcntl(device.context->async_fd, F_SETFL, O_NONBLOCK), 0);
    }
    ~Fixture() { assert_int_equal(ibv_destroy_srq(srq), 0); }

    int post(std::uint64_t id, int pieces = 1) const {
        ibv_sge sges[3] = {memory->piece(64), memory->piece(64, 64), memory->piece(64, 128)};
        ibv_recv_wr wr{};
        ibv_recv_wr* bad = nullptr;
        wr.wr_id = id;
        wr.sg_list = sges;
        wr.num_sge = pieces;
        const int error = ibv_post_srq_recv(srq, &wr, &bad);
        assert_ptr_equal(bad, error == 0 ? nullptr : &wr);
        return error;
    }
    bool limit_event() const {
        ibv_async_event event{};
        if (ibv_get_async_event(device.context, &event) != 0)
            return false;
        assert_int_equal(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
        assert_ptr_equal(event.element.srq, srq);
        ibv_ack_async_event(&event);
        return true;
    }
};

void sizes(void**) {
    Device device;
    ibv_srq_init_attr init{};
    init.attr = {0, 1, 0};
    assert_null(ibv_create_srq(device.pd, &init));
    init.attr = {fabric::verbs::limits::kMaxSrqWr + 1, 1, 0};
    assert_null(ibv_create_srq(device.pd, &init));
    init.attr = {1, fabric::verbs::limits::kMaxSge + 1, 0};
    assert_null(ibv_create_srq(device.pd, &init));
    assert_int_equal(errno, EINVAL);
}

void full_and_too_many_pieces(void**) {
    Fixture f(2);
    assert_int_equal(f.post(0, 3), EINVAL);
    assert_int_equal(f.post(0, -1), EINVAL);
    assert_int_equal(f.post(1), 0);
    assert_int_equal(f.post(2, 2), 0);
    assert_int_equal(f.post(3), ENOMEM);
}

void serves_several_queue_pairs_and_tells_when_it_runs_low(void**) {
    Fixture f(8);
    for (std::uint64_t i = 0; i < 4; ++i)
        assert_int_equal(f.post(100 + i), 0);
    ibv_srq_attr attr{};
    attr.srq_limit = 3;
    assert_int_equal(ibv_modify_srq(f.srq, &attr, IBV_SRQ_LIMIT), 0);
    Node::Options options;
    options.srq = f.srq;
    Node one(f.device, options);
    Node two(f.device, options);
    Node sender_one(f.device);
    Node sender_two(f.device);
    verbs_test::connect(sender_one, one);
    verbs_test::connect(sender_two, two);
    assert_int_equal(ibv_destroy_srq(f.srq), EBUSY);

    assert_int_equal(sender_one.post_send(1, 32), 0);
    assert_int_equal(one.next().wr_id, 100);
    assert_false(f.limit_event());
    assert_int_equal(sender_two.post_send(2, 32), 0);
    const ibv_wc wc = two.next();
    assert_int_equal(wc.wr_id, 101);
    assert_int_equal(wc.byte_len, 32);
    assert_int_equal(wc.qp_num, two.qp->qp_num);
    assert_true(f.limit_event());
    // Once; the limit is then off.
    assert_int_equal(sender_two.post_send(3, 32), 0);
    assert_int_equal(two.next().wr_id, 102);
    assert_false(f.limit_event());
    assert_int_equal(ibv_query_srq(f.srq, &attr), 0);
    assert_int_equal(attr.srq_limit, 0);
    assert_int_equal(attr.max_wr, 8);
    // A queue pair with a shared queue has none of its own.
    assert_int_equal(one.post_receive(1, 8), EINVAL);
}

// Then nothing of the shared queue is with the queue pair any more, and it can be destroyed.
void says_when_a_queue_pair_in_error_has_its_last_request_done(void**) {
    Fixture f(8);
    Node::Options options;
    options.srq = f.srq;
    Node one(f.device, options);
    Node two(f.device, options);
    Node sender(f.device);
    verbs_test::connect(sender, one);
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_ERR;
    for (int i = 0; i < 2; ++i)  // in error already: nothing is said again
        assert_int_equal(ibv_modify_qp(one.qp, &attr, IBV_QP_STATE), 0);
    assert_int_equal(ibv_modify_qp(sender.qp, &attr, IBV_QP_STATE), 0);
    ibv_async_event event{};
    assert_int_equal(ibv_get_async_event(f.device.context, &event), 0);
    assert_int_equal(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
    assert_ptr_equal(event.element.qp, one.qp);
    ibv_ack_async_event(&event);
    assert_int_equal(ibv_get_async_event(f.device.context, &event), -1);

    // By an error that the transport finds: the receive it used up is there before the event.
    Node other(f.device);
    verbs_test::connect(other, two);
    assert_int_equal(f.post(7), 0);
    assert_int_equal(other.post_send(1, 65), 0);
    assert_true(eventually([&] { return ibv_get_async_event(f.device.context, &event) == 0; }));
    assert_int_equal(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
    assert_ptr_equal(event.element.qp, two.qp);
    ibv_ack_async_event(&event);
    ibv_wc wc{};
    assert_int_equal(ibv_poll_cq(two.cq, 1, &wc), 1);
    assert_int_equal(wc.wr_id, 7);
    assert_int_equal(wc.status, IBV_WC_LOC_LEN_ERR);
}

void what_can_be_modified(void**) {
    Fixture f(8);
    ibv_srq_attr attr{};
    attr.max_wr = 16;
    assert_int_equal(ibv_modify_srq(f.srq, &attr, IBV_SRQ_MAX_WR), EOPNOTSUPP);
    attr.srq_limit = 9;
    assert_int_equal(ibv_modify_srq(f.srq, &attr, IBV_SRQ_LIMIT), EINVAL);
    assert_int_equal(ibv_modify_srq(f.srq, &attr, 1 << 7), EINVAL);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(full_and_too_many_pieces),
        cmocka_unit_test(serves_several_queue_pairs_and_tells_when_it_runs_low),
        cmocka_unit_test(says_when_a_queue_pair_in_error_has_its_last_request_done),
        cmocka_unit_test(what_can_be_modified),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
