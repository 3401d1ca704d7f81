// SPDX-License-Identifier: BSD-3-Clause
// A receiver that is not ready: the sender waits and tries again, and everything else goes on.
#include <algorithm>
#include <chrono>

#include "cmocka.hpp"
#include "endpoints.hpp"
#include "rc/rnr_timer.hpp"

using namespace fabric;
using namespace fabric::test;
using namespace std::chrono_literals;
using wire::Opcode;

namespace {

Setup with_retries(std::uint8_t rnr_retry) {
    Setup setup;
    setup.a.rnr_retry = rnr_retry;
    return setup;
}

std::size_t payload_bytes(const Pair& pair) {
    std::size_t bytes = 0;
    for (const Packet& packet : pair.log) {
        bytes += packet.to_b ? packet.payload.size() : 0;
    }
    return bytes;
}

std::ptrdiff_t rnr_naks(const Pair& pair) {
    return std::count_if(pair.log.begin(), pair.log.end(), [](const Packet& packet) {
        return !packet.to_b && packet.header.syndrome >> 5 == 1;
    });
}

void a_send_waits_for_its_receive(void**) {
    Pair pair;
    Block from(pair.a.pd(), 2000);
    Block to(pair.b.pd(), 2000, kAllAccess, 5);
    post(pair.a, {.wr_id = 1, .sges = {from.sge(0, 700)}});
    post(pair.a, {.opcode = IBV_WR_RDMA_WRITE,
                  .wr_id = 2,
                  .sges = {from.sge(0, 8)},
                  .remote = to.address(1000),
                  .rkey = to.key()});
    const std::vector before(to.data(), to.data() + 2000);
    pair.run(50);
    assert_true(pair.a.sends.empty());
    assert_true(pair.b.receives.empty());
    assert_true(equal(to.bytes(), before));
    pair.b.receive(9, {to.sge(0, 900)});
    pair.run();
    assert_int_equal(pair.a.sent().wc.wr_id, 1);
    assert_int_equal(pair.a.sent().wc.wr_id, 2);
    const rc::Completion got = pair.b.received();
    assert_int_equal(got.wc.status, IBV_WC_SUCCESS);
    assert_int_equal(got.wc.byte_len, 700);
    assert_true(equal(to.bytes().first(700), from.bytes().first(700)));
    assert_true(equal(to.bytes().subspan(1000, 8), from.bytes().first(8)));
}

void only_one_packet_at_a_time_is_tried(void**) {
    Pair pair;
    Block from(pair.a.pd(), 2000);
    for (std::uint64_t i = 0; i < 10; ++i) {
        post(pair.a, {.wr_id = i, .sges = {from.sge(0, 2000)}});
    }
    pair.run(0);
    const std::size_t first_burst = payload_bytes(pair);
    pair.run(100);
    assert_true(payload_bytes(pair) - first_burst <= 100 * std::size_t{256});
    assert_true(payload_bytes(pair) - first_burst >= 99 * std::size_t{256});
}

void finite_retries_end(void**) {
    for (const std::uint8_t retries : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{6}}) {
        for (const ibv_wr_opcode opcode :
             {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM}) {
            Pair pair(with_retries(retries));
            Block from(pair.a.pd(), 100);
            Block to(pair.b.pd(), 100);
            post(pair.a, {.opcode = opcode,
                          .wr_id = 1,
                          .sges = {from.sge(0, 100)},
                          .remote = to.address(),
                          .rkey = to.key()});
            post(pair.a, {.wr_id = 2});
            pair.run();
            const rc::Completion failed = pair.a.sent();
            assert_int_equal(failed.wc.status, IBV_WC_RNR_RETRY_EXC_ERR);
            assert_int_equal(failed.wc.wr_id, 1);
            assert_int_equal(pair.a.sent().wc.status, IBV_WC_WR_FLUSH_ERR);
            assert_int_equal(rnr_naks(pair), retries + 1);
            assert_int_equal(pair.b.endpoint.state(), IBV_QPS_RTS);
        }
    }
}

void seven_retries_are_for_ever(void**) {
    Pair pair(with_retries(7));
    post(pair.a, {.wr_id = 1});
    pair.run(1000);
    assert_true(pair.a.sends.empty());
    assert_int_equal(pair.a.endpoint.state(), IBV_QPS_RTS);
}

void success_starts_the_count_anew(void**) {
    Pair pair(with_retries(1));
    for (int i = 0; i < 5; ++i) {
        post(pair.a, {});
        pair.exchange();  // one NAK
        pair.b.receive(1, {});
        pair.run();
        assert_int_equal(pair.a.sent().wc.status, IBV_WC_SUCCESS);
        assert_int_equal(pair.b.received().wc.status, IBV_WC_SUCCESS);
    }
}

void the_wait_is_what_the_receiver_asked_for(void**) {
    const std::pair<std::uint8_t, std::chrono::microseconds> codes[] = {
        {std::uint8_t{0}, 655360us},
        {std::uint8_t{1}, 10us},
        {std::uint8_t{12}, 640us},
        {std::uint8_t{14}, 1280us},
        {std::uint8_t{31}, 491520us}};
    for (const auto& [code, delay] : codes) {
        assert_true(rc::rnr_delay(code) == delay);
        Setup setup;
        setup.b.min_rnr_timer = code;
        Pair pair(setup);
        post(pair.a, {});
        pair.exchange();
        const auto deadline = pair.a.endpoint.deadline();
        assert_true(deadline.has_value());
        assert_true(*deadline - pair.now == delay);
        pair.set_now(*deadline - 1us);
        assert_false(pair.collect());
        pair.set_now(*deadline);
        assert_true(pair.collect());
        assert_false(pair.a.endpoint.deadline().has_value());
    }
}

void a_write_with_immediate_waits_with_its_last_packet(void**) {
    Pair pair;
    Block from(pair.a.pd(), 2000);
    Block to(pair.b.pd(), 2000, kAllAccess, 5);
    post(pair.a, {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                  .sges = {from.sge(0, 700)},
                  .remote = to.address(),
                  .rkey = to.key(),
                  .immediate = 77});
    post(pair.a, {.opcode = IBV_WR_RDMA_WRITE, .wr_id = 2});
    pair.run(20);
    assert_true(pair.a.sends.empty());
    // The first packets are in place and are not sent again.
    assert_true(equal(to.bytes().first(512), from.bytes().first(512)));
    assert_int_equal(pair.log.back().header.syndrome >> 5, 1);
    const auto tried = pair.seen(true);
    assert_int_equal(std::count(tried.begin(), tried.end(), Opcode::WriteFirst), 1);
    assert_int_equal(std::count(tried.begin(), tried.end(), Opcode::WriteMiddle), 1);
    assert_int_equal(std::count(tried.begin(), tried.end(), Opcode::WriteLastImm), rnr_naks(pair));
    assert_true(rnr_naks(pair) >= 19);
    pair.b.receive(3, {});
    pair.run();
    const rc::Completion got = pair.b.received();
    assert_int_equal(got.wc.imm_data, 77);
    assert_int_equal(got.wc.byte_len, 700);
    assert_int_equal(pair.a.sent().wc.status, IBV_WC_SUCCESS);
    assert_int_equal(pair.a.sent().wc.status, IBV_WC_SUCCESS);
    assert_true(equal(to.bytes().first(700), from.bytes().first(700)));
}

void the_other_direction_goes_on(void**) {
    Pair pair;
    Block left(pair.a.pd(), 4000, kAllAccess, 1);
    Block right(pair.b.pd(), 4000, kAllAccess, 2);
    post(pair.a, {.wr_id = 1, .sges = {left.sge(0, 100)}});
    pair.exchange();
    post(pair.b, {.opcode = IBV_WR_RDMA_READ,
                  .wr_id = 2,
                  .sges = {right.sge(0, 1000)},
                  .remote = left.address(1000),
                  .rkey = left.key()});
    post(pair.b, {.opcode = IBV_WR_RDMA_WRITE,
                  .wr_id = 3,
                  .sges = {right.sge(2000, 1000)},
                  .remote = left.address(3000),
                  .rkey = left.key()});
    pair.exchange();  // no timer runs out
    assert_int_equal(pair.b.sent().wc.wr_id, 2);
    assert_int_equal(pair.b.sent().wc.wr_id, 3);
    assert_true(equal(right.bytes().first(1000), left.bytes().subspan(1000, 1000)));
    assert_true(equal(left.bytes().subspan(3000), right.bytes().subspan(2000, 1000)));
    assert_true(pair.a.sends.empty());
}

void reads_behind_the_waiting_send_are_done_once(void**) {
    Pair pair;
    Block result(pair.a.pd(), 64);
    Block words(pair.b.pd(), 64);
    words.word(0) = 5;
    post(pair.a, {.wr_id = 1});
    for (std::uint64_t id = 2; id < 6; ++id) {
        post(pair.a, {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                      .wr_id = id,
                      .sges = {result.sge(8 * (id - 2), 8)},
                      .remote = words.address(),
                      .rkey = words.key(),
                      .compare_add = 1});
    }
    pair.run(10);
    assert_int_equal(words.word(0), 5);
    pair.b.receive(1, {});
    pair.run();
    for (std::uint64_t id = 1; id < 6; ++id) {
        const rc::Completion done = pair.a.sent();
        assert_int_equal(done.wc.status, IBV_WC_SUCCESS);
        assert_int_equal(done.wc.wr_id, id);
    }
    assert_int_equal(words.word(0), 9);
    assert_int_equal(result.word(3), 8);
}

void each_message_of_a_row_can_wait(void**) {
    Pair pair;
    Block from(pair.a.pd(), 2000);
    Block to(pair.b.pd(), 2000, kAllAccess, 5);
    for (std::uint64_t id = 0; id < 8; ++id) {
        post(pair.a, {.wr_id = id,
                      .flags = id == 7 ? unsigned{IBV_SEND_SIGNALED} : 0U,
                      .sges = {from.sge(0, 600)}});
    }
    for (std::uint64_t id = 0; id < 8; ++id) {
        pair.run(3);
        pair.b.receive(id, {to.sge(0, 600)});
    }
    pair.run();
    for (std::uint64_t id = 0; id < 8; ++id) {
        const rc::Completion got = pair.b.received();
        assert_int_equal(got.wc.status, IBV_WC_SUCCESS);
        assert_int_equal(got.wc.wr_id, id);
    }
    assert_int_equal(pair.a.sent().wc.wr_id, 7);
    assert_int_equal(pair.a.endpoint.state(), IBV_QPS_RTS);
}

// The failure is the second request's, and comes behind the first one's end, however often that is
// tried.
void a_request_that_fails_behind_the_waiting_send(void**) {
    Pair pair;
    Block from(pair.a.pd(), 2000);
    Block to(pair.b.pd(), 2000);
    ibv_sge nobodys = from.sge(0, 8);
    nobodys.lkey ^= 0x5500;
    post(pair.a, {.wr_id = 1, .sges = {from.sge(0, 700)}});
    post(pair.a, {.wr_id = 2, .sges = {nobodys}});
    post(pair.a, {.wr_id = 3, .sges = {from.sge(0, 8)}});
    pair.run(50);
    assert_true(pair.a.sends.empty());
    pair.b.receive(9, {to.sge(0, 900)});
    pair.run();
    assert_int_equal(pair.b.received().wc.byte_len, 700);
    assert_int_equal(pair.a.sent().wc.status, IBV_WC_SUCCESS);
    const rc::Completion failed = pair.a.sent();
    assert_int_equal(failed.wc.wr_id, 2);
    assert_int_equal(failed.wc.status, IBV_WC_LOC_PROT_ERR);
    assert_int_equal(pair.a.sent().wc.status, IBV_WC_WR_FLUSH_ERR);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(a_send_waits_for_its_receive),
        cmocka_unit_test(only_one_packet_at_a_time_is_tried),
        cmocka_unit_test(finite_retries_end),
        cmocka_unit_test(seven_retries_are_for_ever),
        cmocka_unit_test(success_starts_the_count_anew),
        cmocka_unit_test(the_wait_is_what_the_receiver_asked_for),
        cmocka_unit_test(a_write_with_immediate_waits_with_its_last_packet),
        cmocka_unit_test(the_other_direction_goes_on),
        cmocka_unit_test(reads_behind_the_waiting_send_are_done_once),
        cmocka_unit_test(each_message_of_a_row_can_wait),
        cmocka_unit_test(a_request_that_fails_behind_the_waiting_send),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
