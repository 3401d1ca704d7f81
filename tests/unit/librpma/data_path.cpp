// SPDX-License-Identifier: BSD-3-Clause
// What reads, writes, sends and receives hand to the provider, byte for byte, and what they refuse.
#include <arpa/inet.h>

#include <cerrno>
#include <cstring>

#include "harness.hpp"

namespace {

using fake::world;

constexpr int kAlways = RPMA_F_COMPLETION_ALWAYS, kOnError = RPMA_F_COMPLETION_ON_ERROR;
constexpr std::uint64_t kRemote = 0x7f0000001000;
constexpr std::uint64_t k5GiB = 5ULL << 30;

void* context_of(std::uint64_t value) {
    return reinterpret_cast<void*>(value);
}

/// A connection with a local and a remote region of 4096 bytes each.
struct Pair {
    rpma_peer* peer = harness::make_peer();
    rpma_conn* conn = harness::make_connection(peer);
    char memory[4096] = {};
    rpma_mr_local* local = harness::make_region(peer, memory, sizeof(memory), 0xff);
    rpma_mr_remote* remote = harness::make_remote(kRemote, 4096, 0xabcd, 0xff);
    std::uint64_t base = reinterpret_cast<std::uintptr_t>(memory);
    std::uint32_t lkey = world.mrs.back()->lkey;

    ~Pair() {
        rpma_mr_remote_delete(&remote);
        rpma_mr_dereg(&local);
        rpma_conn_delete(&conn);
        rpma_peer_delete(&peer);
    }

    void expect(ibv_wr_opcode opcode, unsigned flags, std::uint64_t local_offset,
                std::uint32_t length, std::uint64_t wr_id) const {
        assert_int_equal(world.sends.size(), 1);
        const fake::Send& send = world.sends[0];
        assert_string_equal(send.verb.c_str(), "post_send");
        assert_int_equal(send.opcode, opcode);
        assert_int_equal(send.flags, flags);
        assert_int_equal(send.wr_id, wr_id);
        assert_int_equal(send.num_sge, 1);
        assert_int_equal(send.sge.addr, base + local_offset);
        assert_int_equal(send.sge.length, length);
        assert_int_equal(send.sge.lkey, lkey);
    }
    static void expect_remote(std::uint64_t offset) {
        assert_int_equal(world.sends[0].remote, kRemote + offset);
        assert_int_equal(world.sends[0].rkey, 0xabcd);
    }
    static void expect_empty(ibv_wr_opcode opcode) {
        assert_int_equal(world.sends.size(), 1);
        assert_int_equal(world.sends[0].opcode, opcode);
        assert_int_equal(world.sends[0].num_sge, 0);
        assert_int_equal(world.sends[0].remote, 0);
        assert_int_equal(world.sends[0].rkey, 0);
        world.sends.clear();
    }
};

void a_write_is_posted(void**) {
    const Pair p;
    EXPECT_OK(rpma_write(p.conn, p.remote, 64, p.local, 128, 512, kAlways,
                         context_of(0x1122334455667788)));
    p.expect(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 128, 512, 0x1122334455667788);
    Pair::expect_remote(64);
    world.sends.clear();
    EXPECT_OK(
        rpma_write_with_imm(p.conn, p.remote, 0, p.local, 0, 4096, kOnError, 0x12345678, nullptr));
    p.expect(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 4096, 0);
    Pair::expect_remote(0);
    assert_int_equal(ntohl(world.sends[0].imm), 0x12345678);
}

void a_read_is_posted(void**) {
    const Pair p;
    EXPECT_OK(rpma_read(p.conn, p.local, 1, p.remote, 4095, 1, kAlways, context_of(7)));
    p.expect(IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 1, 1, 7);
    Pair::expect_remote(4095);
}

void sends_are_posted(void**) {
    const Pair p;
    EXPECT_OK(rpma_send(p.conn, p.local, 8, 16, kAlways, context_of(7)));
    p.expect(IBV_WR_SEND, IBV_SEND_SIGNALED, 8, 16, 7);
    world.sends.clear();
    EXPECT_OK(rpma_send_with_imm(p.conn, p.local, 8, 16, kOnError, 0x01020304, context_of(8)));
    p.expect(IBV_WR_SEND_WITH_IMM, 0, 8, 16, 8);
    assert_int_equal(ntohl(world.sends[0].imm), 0x01020304);
}

void only_one_bit_of_flags_counts(void**) {
    const Pair p;
    for (const int flags : {1, 2, 3, 4, 7, INT32_MIN, -1}) {
        world.sends.clear();
        EXPECT_OK(rpma_write(p.conn, p.remote, 0, p.local, 0, 1, flags, nullptr));
        assert_int_equal(world.sends[0].flags, (flags & 2) != 0 ? IBV_SEND_SIGNALED : 0);
    }
}

void operations_without_regions_are_empty(void**) {
    const Pair p;
    EXPECT_OK(rpma_read(p.conn, nullptr, 0, nullptr, 0, 0, kAlways, nullptr));
    Pair::expect_empty(IBV_WR_RDMA_READ);
    EXPECT_OK(rpma_write(p.conn, nullptr, 0, nullptr, 0, 0, kAlways, nullptr));
    Pair::expect_empty(IBV_WR_RDMA_WRITE);
    EXPECT_OK(rpma_write_with_imm(p.conn, nullptr, 0, nullptr, 0, 0, kAlways, 9, nullptr));
    assert_int_equal(ntohl(world.sends[0].imm), 9);
    Pair::expect_empty(IBV_WR_RDMA_WRITE_WITH_IMM);
    EXPECT_OK(rpma_send(p.conn, nullptr, 0, 0, kAlways, nullptr));
    Pair::expect_empty(IBV_WR_SEND);
    EXPECT_OK(rpma_send_with_imm(p.conn, nullptr, 0, 0, kAlways, 9, nullptr));
    assert_int_equal(ntohl(world.sends[0].imm), 9);
    Pair::expect_empty(IBV_WR_SEND_WITH_IMM);
    EXPECT_OK(rpma_recv(p.conn, nullptr, 0, 0, context_of(3)));
    assert_int_equal(world.recvs.at(0).num_sge, 0);
    assert_int_equal(world.recvs.at(0).wr_id, 3);
}

void zero_bytes_at_the_end_of_a_region_are_fine(void**) {
    const Pair p;
    EXPECT_OK(rpma_write(p.conn, p.remote, 4096, p.local, 4096, 0, kAlways, nullptr));
    p.expect(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 4096, 0, 0);
    Pair::expect_remote(4096);
    world.sends.clear();
    EXPECT_OK(rpma_send(p.conn, p.local, 4096, 0, kAlways, nullptr));
    EXPECT_OK(rpma_recv(p.conn, p.local, 4096, 0, nullptr));
    p.expect(IBV_WR_SEND, IBV_SEND_SIGNALED, 4096, 0, 0);
}

void receives_are_posted(void**) {
    const Pair p;
    EXPECT_OK(rpma_recv(p.conn, p.local, 8, 16, context_of(0x1122334455667788)));
    rpma_conn_req* req = harness::make_request(p.peer);
    EXPECT_OK(rpma_conn_req_recv(req, p.local, 24, 4072, context_of(6)));
    EXPECT_OK(rpma_conn_req_delete(&req));
    assert_int_equal(world.recvs.size(), 2);
    assert_int_equal(world.recvs[0].wr_id, 0x1122334455667788);
    assert_int_equal(world.recvs[0].sge.addr, p.base + 8);
    assert_int_equal(world.recvs[0].sge.length, 16);
    assert_int_equal(world.recvs[0].sge.lkey, p.lkey);
    assert_int_equal(world.recvs[1].wr_id, 6);
    assert_int_equal(world.recvs[1].sge.addr, p.base + 24);
    assert_int_equal(world.recvs[1].sge.length, 4072);
}

void usages_that_cannot_work_are_refused(void**) {
    const Pair p;
    rpma_mr_remote* readable = harness::make_remote(kRemote, 64, 1, RPMA_MR_USAGE_READ_SRC);
    rpma_mr_remote* flushable =
        harness::make_remote(kRemote, 64, 1, RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
    rpma_mr_remote* writable = harness::make_remote(kRemote, 64, 1, RPMA_MR_USAGE_WRITE_DST);
    char memory[64];
    rpma_mr_local* for_sends = harness::make_region(p.peer, memory, 64, RPMA_MR_USAGE_SEND);
    EXPECT_FAILS(RPMA_E_INVAL, rpma_write(p.conn, readable, 0, p.local, 0, 1, kAlways, nullptr),
                 "written to: add RPMA_MR_USAGE_WRITE_DST");
    EXPECT_FAILS(RPMA_E_INVAL,
                 rpma_write_with_imm(p.conn, readable, 0, p.local, 0, 1, kAlways, 7, nullptr),
                 "written to: add RPMA_MR_USAGE_WRITE_DST");
    EXPECT_FAILS(RPMA_E_INVAL, rpma_atomic_write(p.conn, readable, 0, memory, kAlways, nullptr),
                 "written to: add RPMA_MR_USAGE_WRITE_DST");
    EXPECT_FAILS(RPMA_E_INVAL, rpma_read(p.conn, p.local, 0, writable, 0, 1, kAlways, nullptr),
                 "read from: add RPMA_MR_USAGE_READ_SRC");
    EXPECT_FAILS(RPMA_E_INVAL, rpma_read(p.conn, for_sends, 0, readable, 0, 1, kAlways, nullptr),
                 "destination of a read: add RPMA_MR_USAGE_READ_DST");
    assert_int_equal(world.sends.size(), 0);
    EXPECT_OK(rpma_read(p.conn, p.local, 0, flushable, 0, 1, kAlways, nullptr));
    // Memory may be the source of anything; a receive is left to the device.
    EXPECT_OK(rpma_write(p.conn, writable, 0, for_sends, 0, 1, kAlways, nullptr));
    EXPECT_OK(rpma_recv(p.conn, for_sends, 0, 64, nullptr));
    // No byte, no usage.
    EXPECT_OK(rpma_write(p.conn, readable, 64, p.local, 0, 0, kAlways, nullptr));
    rpma_mr_dereg(&for_sends);
    rpma_mr_remote_delete(&readable);
    rpma_mr_remote_delete(&flushable);
    rpma_mr_remote_delete(&writable);
}

/// The destination of a read is open to writes on iWARP only, and only there it has to be.
void what_iwarp_allows_is_told_apart(void**) {
    char memory[64];
    for (const bool iwarp : {false, true}) {
        fake::context()->device->transport_type = iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
        const Pair p;
        rpma_mr_remote* read_into = harness::make_remote(kRemote, 64, 1, RPMA_MR_USAGE_READ_DST);
        rpma_mr_local* source = harness::make_region(p.peer, memory, 64, RPMA_MR_USAGE_WRITE_SRC);
        rpma_mr_local* target = harness::make_region(p.peer, memory, 64, RPMA_MR_USAGE_WRITE_DST);
        EXPECT_OK(rpma_read(p.conn, target, 0, p.remote, 0, 1, kAlways, nullptr));
        if (iwarp) {
            EXPECT_OK(rpma_write(p.conn, read_into, 0, p.local, 0, 1, kAlways, nullptr));
            EXPECT_OK(rpma_atomic_write(p.conn, read_into, 8, memory, kAlways, nullptr));
            EXPECT_FAILS(RPMA_E_INVAL,
                         rpma_read(p.conn, source, 0, p.remote, 0, 1, kAlways, nullptr),
                         "add RPMA_MR_USAGE_READ_DST");
        } else {
            EXPECT_OK(rpma_read(p.conn, source, 0, p.remote, 0, 1, kAlways, nullptr));
            EXPECT_FAILS(RPMA_E_INVAL,
                         rpma_write(p.conn, read_into, 0, p.local, 0, 1, kAlways, nullptr),
                         "add RPMA_MR_USAGE_WRITE_DST");
            EXPECT_FAILS(RPMA_E_INVAL,
                         rpma_atomic_write(p.conn, read_into, 8, memory, kAlways, nullptr),
                         "add RPMA_MR_USAGE_WRITE_DST");
        }
        assert_int_equal(world.sends.size(), iwarp ? 3 : 2);
        world.sends.clear();
        rpma_mr_dereg(&source);
        rpma_mr_dereg(&target);
        rpma_mr_remote_delete(&read_into);
    }
    fake::context()->device->transport_type = IBV_TRANSPORT_IB;
}

void regions_beyond_4_gib_are_used_in_full(void**) {
    const Pair p;
    world.override_mr = true;
    world.override_values = {0x100000000, k5GiB, 1};
    char memory = 0;
    rpma_mr_local* local = harness::make_region(p.peer, &memory, 1, 0xff);
    world.override_mr = false;
    rpma_mr_remote* remote = harness::make_remote(kRemote, k5GiB, 1, 0xff);
    EXPECT_OK(rpma_write(p.conn, remote, k5GiB - 8, local, k5GiB - 9, 8, kAlways, nullptr));
    assert_int_equal(world.sends.at(0).sge.addr, 0x100000000 + k5GiB - 9);
    assert_int_equal(world.sends.at(0).sge.length, 8);
    assert_int_equal(world.sends.at(0).remote, kRemote + k5GiB - 8);
    EXPECT_OK(rpma_read(p.conn, local, 0, remote, 1, UINT32_MAX, kAlways, nullptr));
    assert_int_equal(world.sends.at(1).sge.length, UINT32_MAX);
    assert_int_equal(world.sends.at(1).sge.lkey, world.mrs.back()->lkey);
    EXPECT_OK(rpma_send(p.conn, local, k5GiB - 1, 1, kAlways, nullptr));
    EXPECT_OK(rpma_recv(p.conn, local, k5GiB - 1, 1, nullptr));
    EXPECT_OK(rpma_atomic_write(p.conn, remote, k5GiB - 8, "12345678", kAlways, nullptr));
    assert_int_equal(world.sends.at(3).remote, kRemote + k5GiB - 8);
    EXPECT_FAILS(RPMA_E_INVAL,
                 rpma_write(p.conn, remote, 0, local, 0, 1ULL << 32, kAlways, nullptr), "4 GiB");
    EXPECT_FAILS(RPMA_E_INVAL,
                 rpma_write(p.conn, remote, 0, local, 0, (1ULL << 32) + 16, kAlways, nullptr),
                 "4 GiB");
    EXPECT_FAILS(RPMA_E_INVAL, rpma_send(p.conn, local, 0, 1ULL << 32, kAlways, nullptr), "4 GiB");
    EXPECT_FAILS(RPMA_E_INVAL, rpma_send(p.conn, local, k5GiB, 1, kAlways, nullptr), "inside");
    assert_int_equal(world.sends.size(), 4);
    rpma_mr_remote_delete(&remote);
    rpma_mr_dereg(&local);
}

void every_wrong_range_is_refused(void**) {
    const Pair p;
    const std::uint64_t values[] = {0,
                                    1,
                                    7,
                                    4088,
                                    4095,
                                    4096,
                                    4097,
                                    UINT32_MAX,
                                    1ULL << 32,
                                    1ULL << 63,
                                    SIZE_MAX,
                                    SIZE_MAX - 4095,
                                    SIZE_MAX - 4096};
    for (const std::uint64_t offset : values) {
        for (const std::uint64_t length : values) {
            const bool right = offset <= 4096 && length <= 4096 - offset;
            const int expected = right ? 0 : RPMA_E_INVAL;
            assert_int_equal(rpma_write(p.conn, p.remote, offset, p.local, 0,
                                        right ? length : length, kAlways, nullptr),
                             expected);
            assert_int_equal(
                rpma_read(p.conn, p.local, offset, p.remote, 0, length, kAlways, nullptr),
                expected);
            assert_int_equal(rpma_send(p.conn, p.local, offset, length, kAlways, nullptr),
                             expected);
            assert_int_equal(rpma_recv(p.conn, p.local, offset, length, nullptr), expected);
            assert_int_equal(rpma_flush(p.conn, p.remote, offset, length,
                                        RPMA_FLUSH_TYPE_VISIBILITY, kAlways, nullptr),
                             expected);
        }
    }
}

void an_atomic_write_is_inline_and_fenced(void**) {
    const Pair p;
    char word[8];
    std::memcpy(word, "old data", 8);
    EXPECT_OK(rpma_atomic_write(p.conn, p.remote, 4088, word, kAlways, context_of(9)));
    std::memcpy(word, "new data", 8);
    assert_int_equal(world.sends.size(), 1);
    const fake::Send& send = world.sends[0];
    assert_int_equal(send.opcode, IBV_WR_RDMA_WRITE);
    assert_int_equal(send.flags, IBV_SEND_SIGNALED | IBV_SEND_INLINE | IBV_SEND_FENCE);
    assert_int_equal(send.wr_id, 9);
    assert_string_equal(send.inlined.c_str(), "old data");
    Pair::expect_remote(4088);
    // The address in the other side's memory counts, not only the offset.
    rpma_mr_remote* odd = harness::make_remote(kRemote + 4, 64, 1, 0xff);
    EXPECT_FAILS(RPMA_E_INVAL, rpma_atomic_write(p.conn, odd, 0, word, kAlways, nullptr),
                 "multiples of 8");
    EXPECT_FAILS(RPMA_E_INVAL, rpma_atomic_write(p.conn, odd, 4, word, kAlways, nullptr),
                 "multiples of 8");
    rpma_mr_remote_delete(&odd);
    // All 8 bytes must be inside.
    rpma_mr_remote* uneven = harness::make_remote(kRemote, 20, 1, 0xff);
    EXPECT_OK(rpma_atomic_write(p.conn, uneven, 8, word, kAlways, nullptr));
    EXPECT_FAILS(RPMA_E_INVAL, rpma_atomic_write(p.conn, uneven, 16, word, kAlways, nullptr),
                 "inside the remote region of 20 bytes");
    rpma_mr_remote_delete(&uneven);
}

void native_atomic_writes_are_used_where_they_are(void**) {
    world.cap_flags_ex = 1ULL << 40;
    const Pair p;
    const bool headers_know = world.qps.at(0).comp_mask != IBV_QP_INIT_ATTR_PD;
    EXPECT_OK(rpma_atomic_write(p.conn, p.remote, 8, "12345678", kAlways, context_of(9)));
    const fake::Send& send = world.sends.at(0);
    Pair::expect_remote(8);
    assert_int_equal(send.wr_id, 9);
    assert_string_equal(send.inlined.c_str(), "12345678");
    assert_true((send.flags & IBV_SEND_FENCE) != 0);  // flushes are reads on this device
    assert_true((send.flags & IBV_SEND_SIGNALED) != 0);
    if (headers_know) {
        assert_string_equal(send.verb.c_str(), "wr_atomic_write");
        assert_int_equal(send.flags, IBV_SEND_SIGNALED | IBV_SEND_FENCE);
    }
    world.post_result = EINVAL;
    EXPECT_FAILS(RPMA_E_PROVIDER,
                 rpma_atomic_write(p.conn, p.remote, 8, "12345678", kOnError, nullptr), "EINVAL");
    world.post_result = 0;
}

void providers_without_extended_qps_get_none(void**) {
    // Nothing native: the extended creation is not asked for.
    world.extended_qp = false;
    { const Pair p; }
    assert_int_equal(world.qps.size(), 1);
    assert_int_equal(world.qps[0].comp_mask, IBV_QP_INIT_ATTR_PD);
    assert_int_equal(world.qps[0].send_ops_flags, 0);
    // A device that claims a native operation and a provider that refuses: falls back.
    world.cap_flags_ex = 1ULL << 40;
    const Pair p;
    assert_int_equal(world.qps.back().comp_mask, IBV_QP_INIT_ATTR_PD);
    EXPECT_OK(rpma_atomic_write(p.conn, p.remote, 8, "12345678", kAlways, nullptr));
    assert_string_equal(world.sends.at(0).verb.c_str(), "post_send");
}

using Post = int (*)(const Pair&);

const struct {
    const char* function;
    Post post;
} kPosts[] = {
    {"rpma_write",
     [](const Pair& p) { return rpma_write(p.conn, p.remote, 0, p.local, 0, 9, 3, nullptr); }},
    {"rpma_write_with_imm",
     [](const Pair& p) {
         return rpma_write_with_imm(p.conn, p.remote, 0, p.local, 0, 9, 3, 1, nullptr);
     }},
    {"rpma_read",
     [](const Pair& p) { return rpma_read(p.conn, p.local, 0, p.remote, 0, 9, 3, nullptr); }},
    {"rpma_atomic_write",
     [](const Pair& p) { return rpma_atomic_write(p.conn, p.remote, 0, "12345678", 3, nullptr); }},
    {"rpma_flush",
     [](const Pair& p) {
         return rpma_flush(p.conn, p.remote, 0, 9, RPMA_FLUSH_TYPE_VISIBILITY, 3, nullptr);
     }},
    {"rpma_send", [](const Pair& p) { return rpma_send(p.conn, p.local, 0, 9, 3, nullptr); }},
    {"rpma_send_with_imm",
     [](const Pair& p) { return rpma_send_with_imm(p.conn, p.local, 0, 9, 3, 1, nullptr); }},
    {"rpma_recv", [](const Pair& p) { return rpma_recv(p.conn, p.local, 0, 9, nullptr); }},
};

void a_full_queue_is_told_apart_from_a_dead_one(void**) {
    const Pair p;
    for (const auto& row : kPosts) {
        // Providers return errno values, some of them negative, some -1 with errno.
        for (const int full : {ENOMEM, -ENOMEM, EAGAIN}) {
            harness::lines.clear();
            world.post_result = full;
            errno = EBADF;  // a stale one must not be told
            assert_int_equal(row.post(p), RPMA_E_AGAIN);
            assert_int_equal(harness::lines.size(), 0);
            assert_int_equal(errno, full == EAGAIN ? EAGAIN : ENOMEM);
        }
        for (const int dead : {EINVAL, -EIO}) {
            harness::lines.clear();
            world.post_result = dead;
            errno = EBADF;
            assert_int_equal(row.post(p), RPMA_E_PROVIDER);
            harness::expect_failure_line(row.function, dead == EINVAL ? "EINVAL" : "EIO");
        }
    }
    // At level debug a full queue makes a line, with the number that was returned.
    harness::capture(RPMA_LOG_LEVEL_DEBUG);
    world.post_result = ENOMEM;
    assert_int_equal(kPosts[0].post(p), RPMA_E_AGAIN);
    assert_int_equal(harness::lines.size(), 1);
    assert_int_equal(harness::lines[0].level, RPMA_LOG_LEVEL_DEBUG);
    assert_true(harness::lines[0].text.find("ENOMEM, errno 12") != std::string::npos);
    assert_true(harness::lines[0].text.find("9 bytes") != std::string::npos);
    world.post_result = 0;
}

/// Sizes, addresses and contexts have 64 bits, in the log too.
void numbers_are_told_in_full(void**) {
    const Pair p;
    const auto* context = reinterpret_cast<const void*>(std::uintptr_t{0x123456789abcdef0});
    world.post_result = EIO;
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_send(p.conn, p.local, 0, 9, 3, context),
                 "wr_id 0x123456789abcdef0");
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_recv(p.conn, p.local, 0, 9, context),
                 "wr_id 0x123456789abcdef0");
    world.post_result = 0;
    EXPECT_FAILS(RPMA_E_INVAL, rpma_send(p.conn, p.local, 5ULL << 32, 9, 3, nullptr),
                 "21474836480");
    rpma_mr_remote* odd = harness::make_remote(0xfedcba9876543214, 64, 1, 0xff);
    EXPECT_FAILS(RPMA_E_INVAL, rpma_atomic_write(p.conn, odd, 0, "12345678", kAlways, nullptr),
                 "0xfedcba9876543214");
    EXPECT_OK(rpma_mr_remote_delete(&odd));
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(a_write_is_posted),
        TEST(a_read_is_posted),
        TEST(sends_are_posted),
        TEST(only_one_bit_of_flags_counts),
        TEST(operations_without_regions_are_empty),
        TEST(zero_bytes_at_the_end_of_a_region_are_fine),
        TEST(receives_are_posted),
        TEST(usages_that_cannot_work_are_refused),
        TEST(what_iwarp_allows_is_told_apart),
        TEST(regions_beyond_4_gib_are_used_in_full),
        TEST(every_wrong_range_is_refused),
        TEST(an_atomic_write_is_inline_and_fenced),
        TEST(native_atomic_writes_are_used_where_they_are),
        TEST(providers_without_extended_qps_get_none),
        TEST(a_full_queue_is_told_apart_from_a_dead_one),
        TEST(numbers_are_told_in_full),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
