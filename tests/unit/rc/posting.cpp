// SPDX-License-Identifier: BSD-3-Clause
// What posting accepts, what it refuses, and how slots of the queues come back.
#include <array>
#include <cerrno>
#include <cstring>

#include "cmocka.hpp"
#include "endpoints.hpp"

using namespace fabric;
using namespace fabric::test;

namespace {

Setup ring_of_ten() {
    Setup setup;
    setup.capacity.send_requests = 10;
    setup.capacity.receive_requests = 10;
    return setup;
}

Request write_to(const Block& to, const Block& from, unsigned flags = IBV_SEND_SIGNALED) {
    return {.opcode = IBV_WR_RDMA_WRITE,
            .flags = flags,
            .sges = {from.sge(0, 8)},
            .remote = to.address(),
            .rkey = to.key()};
}

void invalid_requests_are_refused_and_nothing_is_sent(void**) {
    Pair pair;
    const ibv_sge one{};
    const std::vector<ibv_sge> too_many(5, one);
    for (const ibv_wr_opcode opcode : {IBV_WR_LOCAL_INV, IBV_WR_BIND_MW, IBV_WR_TSO, IBV_WR_DRIVER1,
                                       static_cast<ibv_wr_opcode>(14)}) {
        assert_int_equal(post(pair.a, {.opcode = opcode}), EINVAL);
    }
    assert_int_equal(post(pair.a, {.flags = IBV_SEND_IP_CSUM}), EINVAL);
    assert_int_equal(post(pair.a, {.flags = 1U << 30}), EINVAL);
    assert_int_equal(post(pair.a, {.sges = too_many}), EINVAL);
    std::array<std::byte, 301> local{};
    const ibv_sge long_inline{reinterpret_cast<std::uintptr_t>(local.data()), 301, 0};
    assert_int_equal(post(pair.a, {.flags = IBV_SEND_INLINE, .sges = {long_inline}}), EINVAL);
    const ibv_sge word{reinterpret_cast<std::uintptr_t>(local.data()), 8, 0};
    for (const ibv_wr_opcode opcode :
         {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
        assert_int_equal(post(pair.a, {.opcode = opcode, .flags = IBV_SEND_INLINE, .sges = {word}}),
                         EINVAL);
    }
    ibv_send_wr negative{};
    negative.num_sge = -1;
    assert_int_equal(pair.a.endpoint.post_send(negative), EINVAL);
    assert_false(pair.collect());
    assert_true(pair.a.sends.empty());
    assert_true(pair.a.endpoint.send_queue_idle());
}

void invalid_native_requests_are_refused(void**) {
    Pair pair;
    rc::Endpoint::NativeRequest flush{};
    flush.kind = rc::Endpoint::NativeRequest::Kind::Flush;
    assert_int_equal(pair.a.endpoint.post_native(flush), EINVAL);
    flush.type = 4;
    assert_int_equal(pair.a.endpoint.post_native(flush), EINVAL);
    flush.type = 1;
    flush.level = 2;
    assert_int_equal(pair.a.endpoint.post_native(flush), EINVAL);
    flush.level = 0;
    flush.send_flags = IBV_SEND_IP_CSUM;
    assert_int_equal(pair.a.endpoint.post_native(flush), EINVAL);
    assert_false(pair.collect());
}

void sending_needs_the_right_state(void**) {
    for (const ibv_qp_state state : {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR}) {
        Pair pair;
        pair.a.endpoint.set_state(IBV_QPS_RESET);
        pair.a.endpoint.set_state(state);
        assert_int_equal(post(pair.a, {}), EINVAL);
    }
}

void a_full_queue_refuses_until_completions_are_polled(void**) {
    Pair pair(ring_of_ten());
    Block from(pair.a.pd(), 64);
    Block to(pair.b.pd(), 64);
    for (int i = 0; i < 10; ++i) {
        assert_int_equal(post(pair.a, write_to(to, from)), 0);
    }
    assert_int_equal(post(pair.a, write_to(to, from)), ENOMEM);
    pair.run();
    assert_int_equal(pair.a.sends.size(), 10);
    assert_int_equal(post(pair.a, write_to(to, from)), ENOMEM);
    pair.a.endpoint.release_send_slots(pair.a.sent().send_slots);
    assert_int_equal(post(pair.a, write_to(to, from)), 0);
    assert_int_equal(post(pair.a, write_to(to, from)), ENOMEM);
}

void unsignalled_slots_come_back_with_the_next_completion(void**) {
    Pair pair(ring_of_ten());
    Block from(pair.a.pd(), 64);
    Block to(pair.b.pd(), 64);
    for (int i = 0; i < 9; ++i) {
        assert_int_equal(post(pair.a, write_to(to, from, 0)), 0);
    }
    pair.run();
    assert_true(pair.a.sends.empty());
    assert_true(pair.a.endpoint.send_queue_idle());
    assert_int_equal(post(pair.a, write_to(to, from)), 0);
    assert_int_equal(post(pair.a, write_to(to, from)), ENOMEM);
    pair.run();
    const rc::Completion done = pair.a.sent();
    assert_int_equal(done.send_slots, 10);
    assert_true(pair.a.sends.empty());
    pair.a.endpoint.release_send_slots(done.send_slots);
    for (int i = 0; i < 10; ++i) {
        assert_int_equal(post(pair.a, write_to(to, from)), 0);
    }
}

void an_error_completes_what_was_not_signalled(void**) {
    Pair pair(ring_of_ten());
    Block from(pair.a.pd(), 64);
    Block to(pair.b.pd(), 64);
    post(pair.a, write_to(to, from, 0));
    Request wrong = write_to(to, from, 0);
    wrong.rkey ^= 1;
    wrong.wr_id = 42;
    post(pair.a, wrong);
    Request behind = write_to(to, from, 0);
    behind.wr_id = 43;
    post(pair.a, behind);
    pair.run();
    const rc::Completion failed = pair.a.sent();
    assert_int_equal(failed.wc.status, IBV_WC_REM_ACCESS_ERR);
    assert_int_equal(failed.wc.wr_id, 42);
    assert_int_equal(failed.send_slots, 2);
    const rc::Completion flushed = pair.a.sent();
    assert_int_equal(flushed.wc.status, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(flushed.wc.wr_id, 43);
    assert_int_equal(flushed.send_slots, 1);
    assert_true(pair.a.sends.empty());
}

void in_error_state_posts_complete_as_flushed(void**) {
    Pair pair(ring_of_ten());
    pair.a.endpoint.set_state(IBV_QPS_ERR);
    for (unsigned i = 0; i < 10; ++i) {
        assert_int_equal(post(pair.a, {.wr_id = i, .flags = 0}), 0);
        const rc::Completion flushed = pair.a.sent();
        assert_int_equal(flushed.wc.status, IBV_WC_WR_FLUSH_ERR);
        assert_int_equal(flushed.wc.wr_id, i);
        assert_int_equal(flushed.send_slots, 1);
    }
    assert_int_equal(post(pair.a, {}), ENOMEM);
    pair.a.receive(5, {});
    assert_int_equal(pair.a.received().wc.status, IBV_WC_WR_FLUSH_ERR);
    assert_false(pair.collect());
    assert_true(pair.a.states.empty());  // the program did it itself
}

void receives_are_limited_too(void**) {
    Pair pair(ring_of_ten());
    ibv_recv_wr wr{};
    std::array<ibv_sge, 5> sges{};
    wr.sg_list = sges.data();
    wr.num_sge = 5;
    assert_int_equal(pair.a.endpoint.post_receive(wr), EINVAL);
    wr.num_sge = -1;
    assert_int_equal(pair.a.endpoint.post_receive(wr), EINVAL);
    wr.num_sge = 4;
    for (int i = 0; i < 10; ++i) {
        assert_int_equal(pair.a.endpoint.post_receive(wr), 0);
    }
    assert_int_equal(pair.a.endpoint.post_receive(wr), ENOMEM);
    pair.a.endpoint.set_state(IBV_QPS_ERR);
    assert_int_equal(pair.a.receives.size(), 10);
    pair.b.endpoint.set_state(IBV_QPS_RESET);
    assert_int_equal(pair.b.endpoint.post_receive(wr), EINVAL);
}

void a_queue_of_no_size_takes_nothing(void**) {
    Setup setup;
    setup.capacity.send_requests = 0;
    setup.capacity.receive_requests = 0;
    Pair pair(setup);
    assert_int_equal(post(pair.a, {}), ENOMEM);
    ibv_recv_wr wr{};
    assert_int_equal(pair.a.endpoint.post_receive(wr), ENOMEM);
    pair.a.endpoint.set_state(IBV_QPS_ERR);
    assert_true(pair.a.sends.empty());
}

void all_can_be_signalled_by_the_queue(void**) {
    Setup setup = ring_of_ten();
    setup.capacity.signal_all = true;
    Pair pair(setup);
    post(pair.a, {.opcode = IBV_WR_RDMA_WRITE, .flags = 0});
    pair.run();
    assert_int_equal(pair.a.sent().wc.status, IBV_WC_SUCCESS);
}

void the_ring_turns_many_times(void**) {
    Pair pair(ring_of_ten());
    Block from(pair.a.pd(), 64);
    Block to(pair.b.pd(), 64);
    for (std::uint64_t i = 0; i < 1000; ++i) {
        from.word(0) = i;
        Request request = write_to(to, from, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
        request.wr_id = i;
        assert_int_equal(post(pair.a, request), 0);
        pair.run();
        const rc::Completion done = pair.a.sent();
        assert_int_equal(done.wc.status, IBV_WC_SUCCESS);
        assert_int_equal(done.wc.wr_id, i);
        assert_int_equal(to.word(0), i);
        pair.a.endpoint.release_send_slots(done.send_slots);
    }
}

void slots_are_never_given_back_twice(void**) {
    Pair pair(ring_of_ten());
    pair.a.endpoint.release_send_slots(5);
    for (int i = 0; i < 10; ++i) {
        assert_int_equal(post(pair.a, {.opcode = IBV_WR_RDMA_WRITE}), 0);
    }
    assert_int_equal(post(pair.a, {.opcode = IBV_WR_RDMA_WRITE}), ENOMEM);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(invalid_requests_are_refused_and_nothing_is_sent),
        cmocka_unit_test(invalid_native_requests_are_refused),
        cmocka_unit_test(sending_needs_the_right_state),
        cmocka_unit_test(a_full_queue_refuses_until_completions_are_polled),
        cmocka_unit_test(unsignalled_slots_come_back_with_the_next_completion),
        cmocka_unit_test(an_error_completes_what_was_not_signalled),
        cmocka_unit_test(in_error_state_posts_complete_as_flushed),
        cmocka_unit_test(receives_are_limited_too),
        cmocka_unit_test(a_queue_of_no_size_takes_nothing),
        cmocka_unit_test(all_can_be_signalled_by_the_queue),
        cmocka_unit_test(the_ring_turns_many_times),
        cmocka_unit_test(slots_are_never_given_back_twice),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
