// SPDX-License-Identifier: BSD-3-Clause
// The fast paths test several pointers at once by the bits that they have in common. Addresses
// without any are as good as others: each call does what it does elsewhere, once.
#include <cstring>

#include "harness.hpp"

namespace {

using fake::world;
using harness::LoneBit;

constexpr int kAlways = RPMA_F_COMPLETION_ALWAYS;
constexpr std::uint64_t kRemote = 0x7f0000001000;

/// Connection, regions and shared receive queue, each where it has no bit in common with another.
struct Lonely {
    LoneBit conn_page, local_page, remote_page, srq_page, word_page;
    rpma_peer* peer = harness::make_peer();
    rpma_conn* conn = nullptr;
    rpma_mr_local* local = nullptr;
    rpma_mr_remote* remote = nullptr;
    rpma_srq* srq = nullptr;
    char memory[64] = {};

    Lonely() {
        rpma_conn_req* req = harness::make_request(peer);
        conn_page.take_next_allocation();
        EXPECT_OK(rpma_conn_req_connect(&req, nullptr, &conn));
        local_page.take_next_allocation();
        local = harness::make_region(peer, memory, sizeof(memory), 0xff);
        const auto bytes = harness::descriptor(kRemote, 64, 1, 0xff);
        remote_page.take_next_allocation();
        EXPECT_OK(rpma_mr_remote_from_descriptor(bytes.data(), bytes.size(), &remote));
        srq_page.take_next_allocation();
        EXPECT_OK(rpma_srq_new(peer, nullptr, &srq));
        assert_ptr_equal(conn, conn_page.page());
        assert_ptr_equal(local, local_page.page());
        assert_ptr_equal(remote, remote_page.page());
        assert_ptr_equal(srq, srq_page.page());
    }
    ~Lonely() {
        rpma_srq_delete(&srq);
        rpma_mr_remote_delete(&remote);
        rpma_mr_dereg(&local);
        rpma_conn_delete(&conn);
        rpma_peer_delete(&peer);
    }
    Lonely(const Lonely&) = delete;
    Lonely& operator=(const Lonely&) = delete;
};

void expect_sent(ibv_wr_opcode opcode, std::uint64_t remote, std::uint32_t length,
                 unsigned other_flags = 0) {
    assert_int_equal(world.sends.size(), 1);
    const fake::Send& send = world.sends[0];
    assert_int_equal(send.opcode, opcode);
    assert_int_equal(send.flags, IBV_SEND_SIGNALED | other_flags);
    assert_int_equal(send.remote, remote);
    assert_int_equal(send.num_sge, 1);
    assert_int_equal(send.sge.length, length);
    world.sends.clear();
}

void operations_are_posted(void**) {
    const Lonely l;
    EXPECT_OK(rpma_write(l.conn, l.remote, 8, l.local, 0, 16, kAlways, nullptr));
    expect_sent(IBV_WR_RDMA_WRITE, kRemote + 8, 16);
    EXPECT_OK(rpma_write_with_imm(l.conn, l.remote, 8, l.local, 0, 16, kAlways, 7, nullptr));
    expect_sent(IBV_WR_RDMA_WRITE_WITH_IMM, kRemote + 8, 16);
    EXPECT_OK(rpma_read(l.conn, l.local, 0, l.remote, 8, 16, kAlways, nullptr));
    expect_sent(IBV_WR_RDMA_READ, kRemote + 8, 16);
    EXPECT_OK(rpma_send(l.conn, l.local, 0, 16, kAlways, nullptr));
    expect_sent(IBV_WR_SEND, 0, 16);
    EXPECT_OK(rpma_send_with_imm(l.conn, l.local, 0, 16, kAlways, 7, nullptr));
    expect_sent(IBV_WR_SEND_WITH_IMM, 0, 16);
    EXPECT_OK(rpma_flush(l.conn, l.remote, 8, 16, RPMA_FLUSH_TYPE_VISIBILITY, kAlways, nullptr));
    expect_sent(IBV_WR_RDMA_READ, kRemote + 8, 8);
    auto* const word = static_cast<char*>(l.word_page.page());
    std::memcpy(word, "the word", 8);
    EXPECT_OK(rpma_atomic_write(l.conn, l.remote, 8, word, kAlways, nullptr));
    assert_string_equal(world.sends.at(0).inlined.c_str(), "the word");
    expect_sent(IBV_WR_RDMA_WRITE, kRemote + 8, 8, IBV_SEND_INLINE | IBV_SEND_FENCE);
    EXPECT_OK(rpma_recv(l.conn, l.local, 0, 16, nullptr));
    EXPECT_OK(rpma_srq_recv(l.srq, l.local, 0, 16, nullptr));
    assert_int_equal(world.recvs.size(), 2);
}

void completions_are_collected(void**) {
    const Lonely l;
    rpma_cq* cq = nullptr;
    EXPECT_OK(rpma_conn_get_cq(l.conn, &cq));
    const LoneBit page(cq);
    auto* const lone_wc = static_cast<ibv_wc*>(page.page());
    auto* const lone_got = static_cast<int*>(page.page());
    ibv_cq* const verbs = world.qps.back().send_cq;
    for (std::uint64_t i = 1; i <= 4; ++i) {
        ibv_wc one = {};
        one.wr_id = i;
        fake::push_completion(verbs, one);
    }
    ibv_wc wc[2] = {};
    int got = 0;
    EXPECT_OK(rpma_cq_get_wc(cq, 1, lone_wc, nullptr));
    assert_int_equal(lone_wc->wr_id, 1);
    EXPECT_OK(rpma_cq_get_wc(cq, 1, lone_wc, &got));
    assert_int_equal(lone_wc->wr_id, 2);
    assert_int_equal(got, 1);
    *lone_got = 77;
    EXPECT_OK(rpma_cq_get_wc(cq, 2, wc, lone_got));
    assert_int_equal(*lone_got, 2);
    assert_int_equal(wc[1].wr_id, 4);
    assert_int_equal(rpma_cq_get_wc(cq, 2, wc, lone_got), RPMA_E_NO_COMPLETION);
    assert_int_equal(rpma_cq_get_wc(cq, 1, lone_wc, nullptr), RPMA_E_NO_COMPLETION);
    world.poll_result = 3;
    EXPECT_FAILS(RPMA_E_UNKNOWN, rpma_cq_get_wc(cq, 2, wc, lone_got), "3 completions of 2");
    assert_int_equal(*lone_got, 2);
    world.poll_result = 0;
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(operations_are_posted),
        TEST(completions_are_collected),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
