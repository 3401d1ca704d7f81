// SPDX-License-Identifier: BSD-3-Clause
// What waits for what: fence, read depth, acknowledgements, the order of completions and of
// packets.
#include <algorithm>

#include "cmocka.hpp"
#include "endpoints.hpp"
#include "rc/limits.hpp"

using namespace fabric;
using namespace fabric::test;
using wire::Opcode;

namespace {

struct Scene {
    explicit Scene(const Setup& setup = {}) : pair(setup) {}

    Request request(ibv_wr_opcode opcode, std::uint64_t wr_id, std::size_t length = 8,
                    unsigned flags = IBV_SEND_SIGNALED) const {
        return {.opcode = opcode,
                .wr_id = wr_id,
                .flags = flags,
                .sges = {local.sge(0, length)},
                .remote = remote.address(),
                .rkey = remote.key()};
    }

    // What a sends when nothing comes back.
    std::vector<Opcode> sent_alone() {
        pair.collect();
        return pair.seen(true);
    }

    Pair pair;
    Block local{pair.a.pd(), 4096, kAllAccess, 1};
    Block remote{pair.b.pd(), 4096, kAllAccess, 2};
};

void completions_come_in_posting_order(void**) {
    Scene scene;
    scene.pair.b.receive(1, {scene.remote.sge(0, 4096)});
    const ibv_wr_opcode order[] = {IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE, IBV_WR_ATOMIC_FETCH_AND_ADD,
                                   IBV_WR_SEND,      IBV_WR_RDMA_READ,  IBV_WR_RDMA_WRITE};
    std::uint64_t id = 0;
    for (const ibv_wr_opcode opcode : order) {
        post(scene.pair.a, scene.request(opcode, id++));
    }
    scene.pair.run();
    for (std::uint64_t expected = 0; expected < id; ++expected) {
        assert_int_equal(scene.pair.a.sent().wc.wr_id, expected);
    }
}

void a_fenced_request_waits_for_reads_and_atomics(void**) {
    for (const ibv_wr_opcode first : {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
        Scene scene;
        post(scene.pair.a, scene.request(first, 1));
        post(scene.pair.a,
             scene.request(IBV_WR_RDMA_WRITE, 2, 8, IBV_SEND_SIGNALED | IBV_SEND_FENCE));
        post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 3));
        assert_int_equal(scene.sent_alone().size(), 1);
        scene.pair.exchange();
        assert_int_equal(scene.pair.seen(true).size(), 2);
        assert_int_equal(scene.pair.a.sends.size(), 3);
    }
}

void a_fenced_request_waits_for_native_flushes(void**) {
    Scene scene;
    rc::Endpoint::NativeRequest flush{};
    flush.kind = rc::Endpoint::NativeRequest::Kind::Flush;
    flush.remote_address = scene.remote.address();
    flush.rkey = scene.remote.key();
    flush.length = 8;
    flush.type = 1;
    assert_int_equal(scene.pair.a.endpoint.post_native(flush), 0);
    post(scene.pair.a, scene.request(IBV_WR_SEND, 2, 8, IBV_SEND_FENCE));
    assert_int_equal(scene.sent_alone().size(), 1);
}

void a_fence_does_not_wait_for_writes(void**) {
    Scene scene;
    post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 1));
    post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 2, 8, IBV_SEND_FENCE));
    assert_int_equal(scene.sent_alone().size(), 2);
}

void reads_beyond_the_depth_wait(void**) {
    Scene scene;  // depth 4
    for (std::uint64_t id = 0; id < 10; ++id) {
        assert_int_equal(post(scene.pair.a, scene.request(IBV_WR_RDMA_READ, id)), 0);
    }
    assert_int_equal(scene.sent_alone().size(), 4);
    scene.pair.exchange();
    assert_int_equal(scene.pair.a.sends.size(), 10);
    for (const rc::Completion& done : scene.pair.a.sends) {
        assert_int_equal(done.wc.status, IBV_WC_SUCCESS);
    }
}

void a_responder_counts_the_reads_it_owes(void**) {
    Setup setup;
    setup.a.max_rd_atomic = 5;  // more than the other side allows
    Scene scene(setup);
    for (std::uint64_t id = 0; id < 5; ++id) {
        post(scene.pair.a, scene.request(IBV_WR_RDMA_READ, id));
    }
    scene.pair.run();
    for (std::uint64_t id = 0; id < 4; ++id) {
        assert_int_equal(scene.pair.a.sent().wc.status, IBV_WC_SUCCESS);
    }
    assert_int_equal(scene.pair.a.sent().wc.status, IBV_WC_REM_INV_REQ_ERR);
}

void one_acknowledgement_covers_everything(void**) {
    Scene scene;
    for (std::uint64_t id = 0; id < 16; ++id) {
        post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, id, 600));
    }
    scene.pair.exchange();
    assert_int_equal(scene.pair.a.sends.size(), 16);
    assert_int_equal(scene.pair.seen(false).size(), 1);
}

void acknowledgements_are_asked_for_when_needed(void**) {
    Scene scene;
    post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 1, 600, 0));
    post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 2, 600));
    scene.pair.collect();
    const std::vector<bool> expected = {false, false, false, false, false, true};
    std::vector<bool> asked;
    for (const Packet& packet : scene.pair.log) {
        asked.push_back(packet.header.ack_request);
    }
    assert_true(asked == expected);
}

void quiet_senders_ask_now_and_then(void**) {
    Scene scene;
    for (std::uint64_t id = 0; id < 16; ++id) {
        post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, id, 8, 0));
    }
    scene.pair.collect();
    const auto asked =
        std::count_if(scene.pair.log.begin(), scene.pair.log.end(),
                      [](const Packet& packet) { return packet.header.ack_request; });
    assert_in_range(asked, 1, 16 / 2);
}

void what_nobody_asks_for_is_acknowledged_a_little_later(void**) {
    Scene scene;
    post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 1, 8, 0));
    scene.pair.exchange();
    assert_true(scene.pair.seen(false).empty());
    assert_false(scene.pair.a.endpoint.send_queue_idle());
    const auto deadline = scene.pair.b.endpoint.deadline();
    assert_true(deadline.has_value());
    assert_true(*deadline - scene.pair.now == rc::kLazyAckDelay);
    scene.pair.run();
    assert_int_equal(scene.pair.seen(false).size(), 1);
    assert_true(scene.pair.a.endpoint.send_queue_idle());
    assert_false(scene.pair.b.endpoint.deadline().has_value());
}

void an_own_request_takes_the_acknowledgement_along(void**) {
    Scene scene;
    scene.pair.b.receive(1, {scene.remote.sge(0, 64)});
    scene.pair.a.receive(2, {scene.local.sge(0, 64)});
    post(scene.pair.a, scene.request(IBV_WR_SEND, 1, 8, 0));
    scene.pair.exchange();
    post(scene.pair.b, {.flags = 0, .sges = {scene.remote.sge(0, 8)}});
    scene.pair.collect();
    const std::vector<Opcode> expected = {Opcode::Acknowledge, Opcode::SendOnly};
    assert_true(scene.pair.seen(false) == expected);
}

void read_responses_and_requests_take_turns(void**) {
    Scene scene;
    post(scene.pair.a, scene.request(IBV_WR_RDMA_READ, 1, 2048));
    scene.pair.collect();
    scene.pair.deliver(scene.pair.flight.front());
    scene.pair.flight.clear();
    scene.pair.seen(false);
    for (std::uint64_t id = 0; id < 3; ++id) {
        post(scene.pair.b, {.opcode = IBV_WR_RDMA_WRITE,
                            .sges = {scene.remote.sge(0, 8)},
                            .remote = scene.local.address(),
                            .rkey = scene.local.key()});
    }
    scene.pair.collect();
    const auto order = scene.pair.seen(false);
    assert_int_equal(order.size(), 8 + 3);
    const auto last_write = std::find(order.rbegin(), order.rend(), Opcode::WriteOnly);
    assert_true(order.rend() - last_write <= 6);
}

void an_atomic_write_comes_after_the_flush_before_it(void**) {
    Scene scene;
    rc::Endpoint::NativeRequest request{};
    request.remote_address = scene.remote.address();
    request.rkey = scene.remote.key();
    request.length = 8;
    request.type = 2;
    request.kind = rc::Endpoint::NativeRequest::Kind::Flush;
    scene.pair.a.endpoint.post_native(request);
    request.kind = rc::Endpoint::NativeRequest::Kind::AtomicWrite;
    scene.pair.a.endpoint.post_native(request);
    const std::vector<Opcode> order = {Opcode::Flush, Opcode::AtomicWrite};
    assert_true(scene.sent_alone() == order);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(completions_come_in_posting_order),
        cmocka_unit_test(a_fenced_request_waits_for_reads_and_atomics),
        cmocka_unit_test(a_fenced_request_waits_for_native_flushes),
        cmocka_unit_test(a_fence_does_not_wait_for_writes),
        cmocka_unit_test(reads_beyond_the_depth_wait),
        cmocka_unit_test(a_responder_counts_the_reads_it_owes),
        cmocka_unit_test(one_acknowledgement_covers_everything),
        cmocka_unit_test(acknowledgements_are_asked_for_when_needed),
        cmocka_unit_test(quiet_senders_ask_now_and_then),
        cmocka_unit_test(what_nobody_asks_for_is_acknowledged_a_little_later),
        cmocka_unit_test(an_own_request_takes_the_acknowledgement_along),
        cmocka_unit_test(read_responses_and_requests_take_turns),
        cmocka_unit_test(an_atomic_write_comes_after_the_flush_before_it),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
