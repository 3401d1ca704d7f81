// SPDX-License-Identifier: BSD-3-Clause
// What each operation does when all goes well: bytes, completions, packets.
#include <arpa/inet.h>

#include <array>
#include <cstring>

#include "cmocka.hpp"
#include "endpoints.hpp"
#include "rc/native.hpp"

using namespace fabric;
using namespace fabric::test;
using wire::Opcode;

namespace {

constexpr std::size_t kMtu = 256;
constexpr std::array<std::size_t, 7> kSizes = {0,        1,        kMtu - 1,    kMtu,
                                               kMtu + 1, 3 * kMtu, 5 * kMtu - 3};

std::size_t packets(std::size_t bytes) {
    return bytes == 0 ? 1 : (bytes + kMtu - 1) / kMtu;
}

void assert_done(Side& side, std::uint64_t wr_id, ibv_wc_opcode opcode) {
    const rc::Completion done = side.sent();
    assert_int_equal(done.wc.status, IBV_WC_SUCCESS);
    assert_int_equal(done.wc.wr_id, wr_id);
    assert_int_equal(done.wc.opcode, opcode);
    assert_int_equal(done.wc.qp_num, side.endpoint.attributes().qp_number);
    assert_int_equal(done.send_slots, 1);
}

void send_of_every_size(void**) {
    for (const std::size_t size : kSizes) {
        Pair pair;
        Block from(pair.a.pd(), 2000, kAllAccess, 3);
        Block to(pair.b.pd(), 2000, IBV_ACCESS_LOCAL_WRITE, 9);
        Block untouched(pair.b.pd(), 2000, IBV_ACCESS_LOCAL_WRITE, 9);
        pair.b.receive(77, {to.sge(5, 1990)});
        assert_int_equal(post(pair.a, {.wr_id = 5, .sges = {from.sge(3, size)}}), 0);
        pair.run();
        assert_done(pair.a, 5, IBV_WC_SEND);
        const rc::Completion got = pair.b.received();
        assert_int_equal(got.wc.status, IBV_WC_SUCCESS);
        assert_int_equal(got.wc.wr_id, 77);
        assert_int_equal(got.wc.opcode, IBV_WC_RECV);
        assert_int_equal(got.wc.byte_len, size);
        assert_int_equal(got.wc.wc_flags, 0);
        assert_int_equal(got.wc.qp_num, 22);
        assert_int_equal(got.wc.src_qp, 11);
        assert_false(got.solicited);
        assert_true(equal(to.bytes().subspan(5, size), from.bytes().subspan(3, size)));
        assert_true(equal(to.bytes().first(5), untouched.bytes().first(5)));
        assert_true(equal(to.bytes().subspan(5 + size), untouched.bytes().subspan(5 + size)));
        assert_int_equal(pair.seen(true).size(), packets(size));
        assert_int_equal(pair.seen(false).size(), 1);
        assert_true(pair.a.endpoint.send_queue_idle());
    }
}

void write_of_every_size(void**) {
    for (const std::size_t size : kSizes) {
        Pair pair;
        Block from(pair.a.pd(), 2000, 0, 3);
        Block to(pair.b.pd(), 2000, kAllAccess, 9);
        Block untouched(pair.b.pd(), 2000, kAllAccess, 9);
        post(pair.a, {.opcode = IBV_WR_RDMA_WRITE,
                      .wr_id = 6,
                      .sges = {from.sge(0, size)},
                      .remote = to.address(11),
                      .rkey = to.key()});
        pair.run();
        assert_done(pair.a, 6, IBV_WC_RDMA_WRITE);
        assert_true(pair.b.receives.empty());
        assert_true(equal(to.bytes().subspan(11, size), from.bytes().first(size)));
        assert_true(equal(to.bytes().first(11), untouched.bytes().first(11)));
        assert_true(equal(to.bytes().subspan(11 + size), untouched.bytes().subspan(11 + size)));
    }
}

void read_of_every_size(void**) {
    for (const std::size_t size : kSizes) {
        Pair pair;
        Block to(pair.a.pd(), 2000, IBV_ACCESS_LOCAL_WRITE, 3);
        Block untouched(pair.a.pd(), 2000, IBV_ACCESS_LOCAL_WRITE, 3);
        Block from(pair.b.pd(), 2000, IBV_ACCESS_REMOTE_READ, 9);
        post(pair.a, {.opcode = IBV_WR_RDMA_READ,
                      .wr_id = 7,
                      .sges = {to.sge(1, size)},
                      .remote = from.address(2),
                      .rkey = from.key()});
        pair.run();
        const rc::Completion done = pair.a.sent();
        assert_int_equal(done.wc.status, IBV_WC_SUCCESS);
        assert_int_equal(done.wc.opcode, IBV_WC_RDMA_READ);
        assert_int_equal(done.wc.byte_len, size);
        assert_true(equal(to.bytes().subspan(1, size), from.bytes().subspan(2, size)));
        assert_true(equal(to.bytes().subspan(1 + size), untouched.bytes().subspan(1 + size)));
        assert_int_equal(pair.seen(true).size(), 1);
        assert_int_equal(pair.seen(false).size(), packets(size));
    }
}

void opcodes_follow_the_place_in_the_message(void**) {
    Pair pair;
    Block from(pair.a.pd(), 2000);
    Block to(pair.b.pd(), 2000);
    pair.b.receive(1, {to.sge(0, 2000)});
    pair.b.receive(2, {to.sge(0, 2000)});
    pair.b.receive(3, {to.sge(0, 2000)});
    post(pair.a, {.sges = {from.sge(0, 3 * kMtu)}});
    post(pair.a, {.opcode = IBV_WR_SEND_WITH_IMM, .sges = {from.sge(0, kMtu + 1)}});
    post(pair.a, {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                  .sges = {from.sge(0, 2 * kMtu)},
                  .remote = to.address(),
                  .rkey = to.key()});
    post(pair.a, {.opcode = IBV_WR_RDMA_READ,
                  .sges = {from.sge(0, 3 * kMtu)},
                  .remote = to.address(),
                  .rkey = to.key()});
    pair.run();
    const std::vector<Opcode> requests = {
        Opcode::SendFirst,   Opcode::SendMiddle, Opcode::SendLast,     Opcode::SendFirst,
        Opcode::SendLastImm, Opcode::WriteFirst, Opcode::WriteLastImm, Opcode::ReadRequest};
    const std::vector<Opcode> answers = {Opcode::ReadResponseFirst, Opcode::ReadResponseMiddle,
                                         Opcode::ReadResponseLast};
    assert_true(pair.seen(true) == requests);
    // One answer says all: the read response acknowledges what came before it.
    assert_true(pair.seen(false) == answers);
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(pair.a.sent().wc.status, IBV_WC_SUCCESS);
    }
}

void immediate_data_arrive_as_given(void**) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{4}, 2 * kMtu}) {
        for (const ibv_wr_opcode opcode : {IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM}) {
            Pair pair;
            Block from(pair.a.pd(), 2000);
            Block to(pair.b.pd(), 2000, kAllAccess, 7);
            const bool write = opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
            pair.b.receive(8, write ? std::vector<ibv_sge>{} : std::vector{to.sge(0, 2000)});
            post(pair.a, {.opcode = opcode,
                          .sges = {from.sge(0, size)},
                          .remote = to.address(),
                          .rkey = to.key(),
                          .immediate = htonl(0x12345678)});
            pair.run();
            assert_done(pair.a, 1, write ? IBV_WC_RDMA_WRITE : IBV_WC_SEND);
            const rc::Completion got = pair.b.received();
            assert_int_equal(got.wc.status, IBV_WC_SUCCESS);
            assert_int_equal(got.wc.opcode, write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
            assert_int_equal(got.wc.wc_flags, IBV_WC_WITH_IMM);
            assert_int_equal(ntohl(got.wc.imm_data), 0x12345678);
            assert_int_equal(got.wc.byte_len, size);
            assert_true(equal(to.bytes().first(size), from.bytes().first(size)));
        }
    }
}

void solicited_is_told_once_per_message(void**) {
    Pair pair;
    Block from(pair.a.pd(), 2000);
    Block to(pair.b.pd(), 2000);
    pair.b.receive(1, {to.sge(0, 2000)});
    pair.b.receive(2, {to.sge(0, 2000)});
    post(pair.a,
         {.flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED, .sges = {from.sge(0, 3 * kMtu)}});
    post(pair.a,
         {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED});
    pair.run();
    assert_true(pair.b.received().solicited);
    assert_true(pair.b.received().solicited);
    assert_false(pair.log[0].header.solicited);
    assert_true(pair.log[2].header.solicited);
}

void gather_and_scatter_cross_each_other(void**) {
    Pair pair;
    Block from(pair.a.pd(), 2000);
    Block to(pair.b.pd(), 2000, IBV_ACCESS_LOCAL_WRITE, 99);
    pair.b.receive(1, {to.sge(1000, 300), to.sge(0, 0), to.sge(0, 1), to.sge(10, 900)});
    post(pair.a,
         {.sges = {from.sge(0, 100), from.sge(500, 0), from.sge(200, 401), from.sge(700, 50)}});
    pair.run();
    std::vector<std::byte> sent;
    for (const auto& [at, size] : {std::pair{0, 100}, std::pair{200, 401}, std::pair{700, 50}}) {
        const auto part =
            from.bytes().subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
        sent.insert(sent.end(), part.begin(), part.end());
    }
    const std::span all(sent);
    assert_int_equal(pair.b.received().wc.byte_len, 551);
    assert_true(equal(to.bytes().subspan(1000, 300), all.first(300)));
    assert_true(equal(to.bytes().first(1), all.subspan(300, 1)));
    assert_true(equal(to.bytes().subspan(10, 250), all.subspan(301)));
}

void read_scatters(void**) {
    Pair pair;
    Block to(pair.a.pd(), 2000, IBV_ACCESS_LOCAL_WRITE, 50);
    Block from(pair.b.pd(), 2000);
    post(pair.a, {.opcode = IBV_WR_RDMA_READ,
                  .sges = {to.sge(0, 255), to.sge(300, 3), to.sge(400, 600)},
                  .remote = from.address(),
                  .rkey = from.key()});
    pair.run();
    assert_done(pair.a, 1, IBV_WC_RDMA_READ);
    assert_true(equal(to.bytes().first(255), from.bytes().first(255)));
    assert_true(equal(to.bytes().subspan(300, 3), from.bytes().subspan(255, 3)));
    assert_true(equal(to.bytes().subspan(400, 600), from.bytes().subspan(258, 600)));
}

void inline_data_are_taken_at_once(void**) {
    Pair pair;
    Block to(pair.b.pd(), 2000);
    std::array<std::byte, 300> local{};
    local.fill(std::byte{0x5a});
    const ibv_sge first{reinterpret_cast<std::uintptr_t>(local.data()), 100, 0};
    const ibv_sge second{reinterpret_cast<std::uintptr_t>(local.data()) + 100, 200, 0xdead};
    post(pair.a, {.opcode = IBV_WR_RDMA_WRITE,
                  .flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
                  .sges = {first, second},
                  .remote = to.address(),
                  .rkey = to.key()});
    const auto expected = local;
    local.fill(std::byte{0});
    pair.run();
    assert_done(pair.a, 1, IBV_WC_RDMA_WRITE);
    assert_true(equal(to.bytes().first(300), expected));
}

void atomics_change_the_word_and_return_the_old(void**) {
    Pair pair;
    Block result(pair.a.pd(), 64);
    Block words(pair.b.pd(), 64);
    words.word(0) = 40;
    words.word(1) = 1000;
    Request request{.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                    .sges = {result.sge(0, 8)},
                    .remote = words.address(),
                    .rkey = words.key(),
                    .compare_add = 2};
    post(pair.a, request);
    request.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
    request.remote = words.address(8);
    request.sges = {result.sge(8, 8)};
    request.compare_add = 1000;
    request.swap = 2000;
    post(pair.a, request);
    request.sges = {result.sge(16, 3), result.sge(19, 5)};
    request.swap = 3000;
    post(pair.a, request);
    pair.run();
    assert_done(pair.a, 1, IBV_WC_FETCH_ADD);
    const rc::Completion swapped = pair.a.sent();
    assert_int_equal(swapped.wc.opcode, IBV_WC_COMP_SWAP);
    assert_int_equal(swapped.wc.byte_len, 8);
    assert_done(pair.a, 1, IBV_WC_COMP_SWAP);
    assert_int_equal(words.word(0), 42);
    assert_int_equal(words.word(1), 2000);
    assert_int_equal(result.word(0), 40);
    assert_int_equal(result.word(1), 1000);
    assert_int_equal(result.word(2), 2000);
}

rc::Endpoint::NativeRequest native(rc::Endpoint::NativeRequest::Kind kind, const Block& block) {
    rc::Endpoint::NativeRequest request{};
    request.kind = kind;
    request.wr_id = 3;
    request.send_flags = IBV_SEND_SIGNALED;
    request.remote_address = block.address();
    request.rkey = block.key();
    request.length = 64;
    request.type = 2;
    return request;
}

void native_flush_and_atomic_write(void**) {
    Pair pair;
    Block to(pair.b.pd(), 64);
    auto flush = native(rc::Endpoint::NativeRequest::Kind::Flush, to);
    auto word = native(rc::Endpoint::NativeRequest::Kind::AtomicWrite, to);
    const std::uint64_t value = 0x1122334455667788;
    std::memcpy(word.value.data(), &value, sizeof value);
    assert_int_equal(pair.a.endpoint.post_native(flush), 0);
    assert_int_equal(pair.a.endpoint.post_native(word), 0);
    flush.level = 1;
    flush.type = 3;
    flush.length = 0;
    assert_int_equal(pair.a.endpoint.post_native(flush), 0);
    pair.run();
    assert_done(pair.a, 3, rc::kWcFlush);
    assert_done(pair.a, 3, rc::kWcAtomicWrite);
    assert_done(pair.a, 3, rc::kWcFlush);
    assert_int_equal(to.word(0), value);
    const std::vector<Opcode> answers(3, Opcode::ReadResponseOnly);
    assert_true(pair.seen(false) == answers);
}

void both_directions_at_once(void**) {
    Pair pair;
    Block left(pair.a.pd(), 4096, kAllAccess, 1);
    Block right(pair.b.pd(), 4096, kAllAccess, 2);
    const std::vector<std::byte> left_half(left.data(), left.data() + 2048);
    const std::vector<std::byte> right_half(right.data(), right.data() + 2048);
    post(pair.a, {.opcode = IBV_WR_RDMA_WRITE,
                  .sges = {left.sge(0, 2048)},
                  .remote = right.address(2048),
                  .rkey = right.key()});
    post(pair.b, {.opcode = IBV_WR_RDMA_READ,
                  .sges = {right.sge(2048, 2048)},
                  .remote = left.address(),
                  .rkey = left.key()});
    post(pair.b, {.opcode = IBV_WR_RDMA_WRITE,
                  .sges = {right.sge(0, 2048)},
                  .remote = left.address(2048),
                  .rkey = left.key()});
    pair.run();
    assert_done(pair.a, 1, IBV_WC_RDMA_WRITE);
    assert_done(pair.b, 1, IBV_WC_RDMA_READ);
    assert_done(pair.b, 1, IBV_WC_RDMA_WRITE);
    assert_true(equal(left.bytes().subspan(2048), right_half));
    assert_true(equal(right.bytes().subspan(2048), left_half));
}

void receives_can_come_from_a_shared_queue(void**) {
    SharedReceives shared;
    Setup setup;
    setup.b_receives = &shared;
    Pair pair(setup);
    Block from(pair.a.pd(), 100);
    Block to(pair.b.pd(), 100, IBV_ACCESS_LOCAL_WRITE, 66);
    rc::ReceiveRequest request;
    request.wr_id = 123;
    request.num_sge = 1;
    request.sge[0] = to.sge(0, 100);
    shared.posted.push_back(request);
    shared.posted.push_back(request);
    post(pair.a, {.sges = {from.sge(0, 100)}});
    pair.run();
    assert_int_equal(pair.b.received().wc.wr_id, 123);
    assert_true(equal(to.bytes(), from.bytes()));
    // An error flushes the queue pair, not the shared queue.
    pair.b.endpoint.set_state(IBV_QPS_ERR);
    assert_int_equal(shared.posted.size(), 1);
    assert_true(pair.b.receives.empty());
}

void zero_length_needs_no_key(void**) {
    Pair pair;
    pair.b.receive(1, {});
    post(pair.a, {.opcode = IBV_WR_RDMA_WRITE, .remote = 0x1234, .rkey = 0xffffffff});
    post(pair.a, {.opcode = IBV_WR_RDMA_READ, .remote = 0, .rkey = 0});
    post(pair.a, {.opcode = IBV_WR_SEND});
    pair.run();
    assert_done(pair.a, 1, IBV_WC_RDMA_WRITE);
    assert_done(pair.a, 1, IBV_WC_RDMA_READ);
    assert_done(pair.a, 1, IBV_WC_SEND);
    assert_int_equal(pair.b.received().wc.byte_len, 0);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(send_of_every_size),
        cmocka_unit_test(write_of_every_size),
        cmocka_unit_test(read_of_every_size),
        cmocka_unit_test(opcodes_follow_the_place_in_the_message),
        cmocka_unit_test(immediate_data_arrive_as_given),
        cmocka_unit_test(solicited_is_told_once_per_message),
        cmocka_unit_test(gather_and_scatter_cross_each_other),
        cmocka_unit_test(read_scatters),
        cmocka_unit_test(inline_data_are_taken_at_once),
        cmocka_unit_test(atomics_change_the_word_and_return_the_old),
        cmocka_unit_test(native_flush_and_atomic_write),
        cmocka_unit_test(both_directions_at_once),
        cmocka_unit_test(receives_can_come_from_a_shared_queue),
        cmocka_unit_test(zero_length_needs_no_key),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
