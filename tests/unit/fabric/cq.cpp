// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/cq.hpp"

#include <fcntl.h>
#include <poll.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "cmocka.hpp"
#include "queue_pairs.hpp"
#include "verbs/limits.hpp"

using fabric::verbs::Cq;
using fabric::verbs::CqEntry;
using verbs_test::Device;

namespace {

CqEntry entry(std::uint64_t id, ibv_wc_status status = IBV_WC_SUCCESS) {
    CqEntry out{};
    out.wc.wr_id = id;
    out.wc.status = status;
    return out;
}

// Takes a completion event if there is one, and acknowledges it.
bool event_came(ibv_comp_channel* channel) {
    pollfd ready = {channel->fd, POLLIN, 0};
    if (poll(&ready, 1, 0) == 0)
        return false;
    ibv_cq* cq = nullptr;
    void* user = nullptr;
    assert_int_equal(ibv_get_cq_event(channel, &cq, &user), 0);
    ibv_ack_cq_events(cq, 1);
    return true;
}

void sizes(void**) {
    Device device;
    for (const int wrong : {0, -1, fabric::verbs::limits::kMaxCqe + 1}) {
        errno = 0;
        assert_null(ibv_create_cq(device.context, wrong, nullptr, nullptr, 0));
        assert_int_equal(errno, EINVAL);
    }
    errno = 0;
    assert_null(
        ibv_create_cq(device.context, 1, nullptr, nullptr, device.context->num_comp_vectors));
    assert_int_equal(errno, EINVAL);
    ibv_cq* const cq = device.make_cq(fabric::verbs::limits::kMaxCqe);
    assert_true(cq->cqe >= fabric::verbs::limits::kMaxCqe);
    assert_int_equal(ibv_destroy_cq(cq), 0);
}

void first_in_first_out(void**) {
    Device device;
    ibv_cq* const cq = device.make_cq(7);
    ibv_wc wc[8];
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    for (int round = 0; round < 50; ++round) {
        for (int i = 0; i < 1 + round % 7; ++i)
            assert_true(Cq::of(cq).push(entry(in++), false));
        while (out < in) {
            const int got = ibv_poll_cq(cq, 3, wc);
            assert_in_range(got, 1, 3);
            for (int i = 0; i < got; ++i)
                assert_int_equal(wc[i].wr_id, out++);
        }
    }
    assert_int_equal(ibv_poll_cq(cq, 8, wc), 0);
    assert_int_equal(ibv_destroy_cq(cq), 0);
}

void overflow_is_visible(void**) {
    Device device;
    ibv_cq* const cq = device.make_cq(2);
    assert_true(Cq::of(cq).push(entry(0), false));
    assert_true(Cq::of(cq).push(entry(1), false));
    assert_false(Cq::of(cq).push(entry(2), false));
    assert_false(Cq::of(cq).push(entry(3), false));
    ibv_async_event event{};
    assert_int_equal(fcntl(device.context->async_fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(ibv_get_async_event(device.context, &event), 0);
    assert_int_equal(event.event_type, IBV_EVENT_CQ_ERR);
    assert_ptr_equal(event.element.cq, cq);
    ibv_ack_async_event(&event);
    // Once is enough.
    assert_int_equal(ibv_get_async_event(device.context, &event), -1);
    assert_int_equal(errno, EAGAIN);
    // What was taken in can be had, then comes the error.
    ibv_wc wc[4];
    assert_int_equal(ibv_poll_cq(cq, 4, wc), 2);
    assert_int_equal(ibv_poll_cq(cq, 4, wc), -1);
    assert_int_equal(ibv_destroy_cq(cq), 0);
}

void one_event_for_one_request(void**) {
    Device device;
    ibv_comp_channel* const channel = ibv_create_comp_channel(device.context);
    ibv_cq* const cq = device.make_cq(16, channel);
    Cq::of(cq).push(entry(0), false);
    assert_false(event_came(channel));
    // Completions that are there already make no event.
    assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
    assert_false(event_came(channel));
    Cq::of(cq).push(entry(1), false);
    Cq::of(cq).push(entry(2), false);
    assert_true(event_came(channel));
    assert_false(event_came(channel));
    ibv_req_notify_cq(cq, 0);
    Cq::of(cq).push(entry(3), false);
    assert_true(event_came(channel));
    assert_int_equal(ibv_destroy_cq(cq), 0);
    assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

void solicited_only(void**) {
    Device device;
    ibv_comp_channel* const channel = ibv_create_comp_channel(device.context);
    ibv_cq* const cq = device.make_cq(16, channel);
    ibv_req_notify_cq(cq, 1);
    Cq::of(cq).push(entry(0), false);
    assert_false(event_came(channel));
    Cq::of(cq).push(entry(1), true);
    assert_true(event_came(channel));
    // An error counts as solicited.
    ibv_req_notify_cq(cq, 1);
    Cq::of(cq).push(entry(2, IBV_WC_WR_FLUSH_ERR), false);
    assert_true(event_came(channel));
    // Asking for any completion is not taken back by asking for solicited ones.
    ibv_req_notify_cq(cq, 0);
    ibv_req_notify_cq(cq, 1);
    Cq::of(cq).push(entry(3), false);
    assert_true(event_came(channel));
    assert_int_equal(ibv_destroy_cq(cq), 0);
    assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

void resizing(void**) {
    Device device;
    ibv_cq* const cq = device.make_cq(4);
    for (std::uint64_t i = 0; i < 3; ++i)
        Cq::of(cq).push(entry(i), false);
    assert_int_equal(ibv_resize_cq(cq, 2), EINVAL);
    assert_int_equal(ibv_resize_cq(cq, 0), EINVAL);
    assert_int_equal(ibv_resize_cq(cq, 100), 0);
    assert_int_equal(cq->cqe, 100);
    for (std::uint64_t i = 3; i < 100; ++i)
        assert_true(Cq::of(cq).push(entry(i), false));
    ibv_wc wc[100];
    assert_int_equal(ibv_poll_cq(cq, 100, wc), 100);
    for (std::uint64_t i = 0; i < 100; ++i)
        assert_int_equal(wc[i].wr_id, i);
    assert_int_equal(ibv_destroy_cq(cq), 0);
}

void extended_polling(void**) {
    Device device;
    ibv_cq_init_attr_ex init{};
    init.cqe = 8;
    init.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM |
                    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_QP_NUM;
    ibv_cq_ex* const cq = ibv_create_cq_ex(device.context, &init);
    assert_non_null(cq);
    ibv_poll_cq_attr attr{};
    assert_int_equal(ibv_start_poll(cq, &attr), ENOENT);
    CqEntry first = entry(5);
    first.wc.byte_len = 77;
    first.wc.imm_data = 0x01020304;
    first.wc.qp_num = 9;
    first.wc.opcode = IBV_WC_RECV;
    first.wc.wc_flags = IBV_WC_WITH_IMM;
    Cq::of(cq).push(first, false);
    Cq::of(cq).push(entry(6, IBV_WC_RETRY_EXC_ERR), false);
    attr.comp_mask = 1;
    assert_int_equal(ibv_start_poll(cq, &attr), EINVAL);
    attr.comp_mask = 0;
    assert_int_equal(ibv_start_poll(cq, &attr), 0);
    assert_int_equal(cq->wr_id, 5);
    assert_int_equal(cq->status, IBV_WC_SUCCESS);
    assert_int_equal(ibv_wc_read_byte_len(cq), 77);
    assert_int_equal(ibv_wc_read_imm_data(cq), 0x01020304);
    assert_int_equal(ibv_wc_read_qp_num(cq), 9);
    assert_int_equal(ibv_wc_read_opcode(cq), IBV_WC_RECV);
    assert_int_equal(ibv_wc_read_wc_flags(cq), IBV_WC_WITH_IMM);
    const std::uint64_t time = ibv_wc_read_completion_ts(cq);
    assert_true(time != 0);
    assert_int_equal(ibv_next_poll(cq), 0);
    assert_int_equal(cq->wr_id, 6);
    assert_int_equal(cq->status, IBV_WC_RETRY_EXC_ERR);
    assert_true(ibv_wc_read_completion_ts(cq) >= time);
    assert_int_equal(ibv_next_poll(cq), ENOENT);
    ibv_end_poll(cq);
    assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

// A completion that comes while the queue is found empty has its own time, not an older one's.
void time_belongs_to_its_completion(void**) {
    constexpr std::uint64_t kRounds = 20'000;
    Device device;
    ibv_cq_init_attr_ex init{};
    init.cqe = 4;
    init.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
    ibv_cq_ex* const cq = ibv_create_cq_ex(device.context, &init);
    assert_non_null(cq);
    std::atomic<std::uint64_t> taken{0};
    std::thread other([cq, &taken] {
        for (std::uint64_t i = 0; i < kRounds; ++i) {
            Cq::of(cq).push(entry(i), false);
            while (taken.load() <= i)
                std::this_thread::yield();
        }
    });
    ibv_poll_cq_attr attr{};
    std::uint64_t last = 0;
    std::uint64_t backwards = 0;
    for (std::uint64_t i = 0; i < kRounds; ++i) {
        while (ibv_start_poll(cq, &attr) != 0)
            std::this_thread::yield();
        const std::uint64_t now = ibv_wc_read_completion_ts(cq);
        backwards += now <= last ? 1 : 0;  // each one is pushed after the one before was taken
        last = now;
        ibv_end_poll(cq);
        taken.store(i + 1);
    }
    other.join();
    assert_int_equal(backwards, 0);
    assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

void what_an_extended_queue_cannot_have(void**) {
    Device device;
    ibv_cq_init_attr_ex init{};
    init.cqe = 8;
    for (const std::uint64_t field :
         {std::uint64_t{IBV_WC_EX_WITH_CVLAN}, std::uint64_t{IBV_WC_EX_WITH_FLOW_TAG},
          std::uint64_t{IBV_WC_EX_WITH_TM_INFO}}) {
        init.wc_flags = field;
        errno = 0;
        assert_null(ibv_create_cq_ex(device.context, &init));
        assert_int_equal(errno, EOPNOTSUPP);
    }
}

void busy_while_a_queue_pair_uses_it(void**) {
    Device device;
    {
        verbs_test::Node node(device);
        assert_int_equal(ibv_destroy_cq(node.cq), EBUSY);
    }
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(first_in_first_out),
        cmocka_unit_test(overflow_is_visible),
        cmocka_unit_test(one_event_for_one_request),
        cmocka_unit_test(solicited_only),
        cmocka_unit_test(resizing),
        cmocka_unit_test(extended_polling),
        cmocka_unit_test(time_belongs_to_its_completion),
        cmocka_unit_test(what_an_extended_queue_cannot_have),
        cmocka_unit_test(busy_while_a_queue_pair_uses_it),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
