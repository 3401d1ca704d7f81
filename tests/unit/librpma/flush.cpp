// SPDX-License-Identifier: BSD-3-Clause
// Flushing: when a type is allowed, and what is read.
#include <cerrno>

#include "harness.hpp"

namespace {

using fake::world;

constexpr int kAlways = RPMA_F_COMPLETION_ALWAYS;
constexpr int kVisibleUsage = RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
constexpr int kPersistentUsage = RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
constexpr std::uint64_t kRemote = 0x7f0000001000;

struct Connected {
    rpma_peer* peer = harness::make_peer();
    rpma_conn* conn = harness::make_connection(peer);

    ~Connected() {
        rpma_conn_delete(&conn);
        rpma_peer_delete(&peer);
    }
    void declare(bool direct) const {
        rpma_peer_cfg* pcfg = nullptr;
        EXPECT_OK(rpma_peer_cfg_new(&pcfg));
        EXPECT_OK(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, direct));
        EXPECT_OK(rpma_conn_apply_remote_peer_cfg(conn, pcfg));
        EXPECT_OK(rpma_peer_cfg_delete(&pcfg));
    }
};

void types_are_allowed_by_usage_and_declaration(void**) {
    for (const int declared : {-1, 0, 1}) {
        for (const int usage : {RPMA_MR_USAGE_WRITE_DST, kVisibleUsage, kPersistentUsage,
                                kVisibleUsage | kPersistentUsage}) {
            const Connected c;
            if (declared >= 0) {
                c.declare(declared == 1);
            }
            rpma_mr_remote* remote = harness::make_remote(kRemote, 64, 1, usage);
            const bool visible = (usage & kVisibleUsage) != 0;
            const bool persistent = (usage & kPersistentUsage) != 0 && declared == 1;
            const std::size_t before = world.sends.size();
            assert_int_equal(
                rpma_flush(c.conn, remote, 0, 64, RPMA_FLUSH_TYPE_VISIBILITY, kAlways, nullptr),
                visible ? 0 : RPMA_E_NOSUPP);
            assert_int_equal(
                rpma_flush(c.conn, remote, 0, 64, RPMA_FLUSH_TYPE_PERSISTENT, kAlways, nullptr),
                persistent ? 0 : RPMA_E_NOSUPP);
            assert_int_equal(world.sends.size() - before, (visible ? 1 : 0) + (persistent ? 1 : 0));
            rpma_mr_remote_delete(&remote);
        }
    }
}

void a_declaration_can_be_taken_back(void**) {
    const Connected c;
    rpma_mr_remote* remote = harness::make_remote(kRemote, 64, 1, kPersistentUsage);
    c.declare(true);
    EXPECT_OK(rpma_flush(c.conn, remote, 0, 1, RPMA_FLUSH_TYPE_PERSISTENT, kAlways, nullptr));
    c.declare(false);
    EXPECT_FAILS(RPMA_E_NOSUPP,
                 rpma_flush(c.conn, remote, 0, 1, RPMA_FLUSH_TYPE_PERSISTENT, kAlways, nullptr),
                 "rpma_conn_apply_remote_peer_cfg");
    EXPECT_FAILS(RPMA_E_NOSUPP,
                 rpma_flush(c.conn, remote, 0, 1, RPMA_FLUSH_TYPE_VISIBILITY, kAlways, nullptr),
                 "RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY");
    rpma_mr_remote_delete(&remote);
}

void flags_decide_about_the_completion(void**) {
    const Connected c;
    rpma_mr_remote* remote = harness::make_remote(kRemote, 64, 1, 0x30);
    EXPECT_OK(rpma_flush(c.conn, remote, 0, 64, RPMA_FLUSH_TYPE_VISIBILITY,
                         RPMA_F_COMPLETION_ON_ERROR, reinterpret_cast<void*>(1)));
    EXPECT_OK(rpma_flush(c.conn, remote, 0, 64, RPMA_FLUSH_TYPE_VISIBILITY, kAlways,
                         reinterpret_cast<void*>(2)));
    assert_int_equal(world.sends.at(0).flags, 0);
    assert_int_equal(world.sends.at(1).flags, IBV_SEND_SIGNALED);
    assert_int_equal(world.sends.at(1).wr_id, 2);
    rpma_mr_remote_delete(&remote);
}

/// The read goes into the peer's buffer and never leaves the region, wherever the range lies.
void the_read_stays_inside_the_region(void**) {
    const Connected c;
    const fake::Mr& buffer = *world.mrs.at(0);
    for (const std::uint64_t size : {1U, 4U, 7U, 8U, 9U, 64U, 4096U}) {
        rpma_mr_remote* remote = harness::make_remote(kRemote, size, 5, 0x30);
        for (std::uint64_t offset = 0; offset <= size; ++offset) {
            for (const std::uint64_t length : {std::uint64_t{0}, size - offset}) {
                world.sends.clear();
                EXPECT_OK(rpma_flush(c.conn, remote, offset, length, RPMA_FLUSH_TYPE_VISIBILITY,
                                     kAlways, nullptr));
                const fake::Send& send = world.sends.at(0);
                assert_int_equal(send.opcode, IBV_WR_RDMA_READ);
                assert_int_equal(send.rkey, 5);
                assert_int_equal(send.sge.addr, reinterpret_cast<std::uintptr_t>(buffer.addr));
                assert_int_equal(send.sge.lkey, buffer.lkey);
                assert_int_equal(send.sge.length, size < 8 ? size : 8);
                assert_true(send.remote >= kRemote);
                assert_true(send.remote + send.sge.length <= kRemote + size);
                if (offset + 8 <= size) {
                    assert_int_equal(send.remote, kRemote + offset);
                }
            }
        }
        rpma_mr_remote_delete(&remote);
    }
}

void ranges_beyond_4_gib_are_flushed(void**) {
    const Connected c;
    rpma_mr_remote* remote = harness::make_remote(kRemote, 5ULL << 30, 5, 0x30);
    EXPECT_OK(rpma_flush(c.conn, remote, 1, (5ULL << 30) - 1, RPMA_FLUSH_TYPE_VISIBILITY, kAlways,
                         nullptr));
    assert_int_equal(world.sends.at(0).remote, kRemote + 1);
    assert_int_equal(world.sends.at(0).sge.length, 8);
    rpma_mr_remote_delete(&remote);
}

/// What the device can do decides, where rdma-core's headers know it; else it stays a read.
void native_flushes_are_used_where_they_are(void**) {
    world.cap_flags_ex = harness::kCapFlush;
    const Connected c;
    c.declare(true);
    rpma_mr_remote* remote = harness::make_remote(kRemote, 6ULL << 30, 5, 0x30);
    const auto* context = reinterpret_cast<void*>(7);
    EXPECT_OK(rpma_flush(c.conn, remote, 8, 16, RPMA_FLUSH_TYPE_VISIBILITY, kAlways, context));
    EXPECT_OK(rpma_flush(c.conn, remote, 0, 5ULL << 30, RPMA_FLUSH_TYPE_PERSISTENT,
                         RPMA_F_COMPLETION_ON_ERROR, nullptr));
    assert_int_equal(world.sends.size(), 2);
    const fake::Send& first = world.sends[0];
    const fake::Send& second = world.sends[1];
    assert_int_equal(first.remote, kRemote + 8);
    assert_int_equal(first.rkey, 5);
    assert_int_equal(first.wr_id, 7);
    assert_int_equal(first.flags, IBV_SEND_SIGNALED);
    assert_int_equal(second.flags, 0);
    if (harness::kHeadersKnowFlush) {
        assert_string_equal(first.verb.c_str(), "wr_flush");
        assert_int_equal(first.placement, 1);  // global
        assert_int_equal(first.level, 0);      // range
        assert_int_equal(first.length, 16);
        assert_int_equal(second.placement, 2);  // persistent
        assert_int_equal(second.level, 1);      // the region: 32 bits have no room for the range
        assert_int_equal(world.count("ibv_reg_mr"), 0);  // no buffer for reads
    } else {
        assert_string_equal(first.verb.c_str(), "post_send");
        assert_int_equal(first.opcode, IBV_WR_RDMA_READ);
    }
    rpma_mr_remote_delete(&remote);
}

rpma_flush_type unknown_type() {
    int number = 2;  // a variable, for the compiler knows the limits of enumerations
    return static_cast<rpma_flush_type>(number);
}

void native_flushes_are_refused_as_others_are(void**) {
    world.cap_flags_ex = harness::kCapFlush;
    const Connected c;
    rpma_mr_remote* remote = harness::make_remote(kRemote, 64, 5, 0x30);
    rpma_mr_remote* other = harness::make_remote(kRemote, 64, 5, RPMA_MR_USAGE_WRITE_DST);
    EXPECT_FAILS(RPMA_E_INVAL, rpma_flush(c.conn, remote, 0, 1, unknown_type(), kAlways, nullptr),
                 "flush type 2");
    EXPECT_FAILS(RPMA_E_INVAL,
                 rpma_flush(c.conn, remote, 60, 5, RPMA_FLUSH_TYPE_VISIBILITY, kAlways, nullptr),
                 "inside");
    EXPECT_FAILS(RPMA_E_NOSUPP,
                 rpma_flush(c.conn, remote, 0, 1, RPMA_FLUSH_TYPE_PERSISTENT, kAlways, nullptr),
                 "rpma_conn_apply_remote_peer_cfg");
    EXPECT_FAILS(RPMA_E_NOSUPP,
                 rpma_flush(c.conn, other, 0, 1, RPMA_FLUSH_TYPE_VISIBILITY, kAlways, nullptr),
                 "RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY");
    assert_int_equal(world.sends.size(), 0);
    world.post_result = ENOMEM;
    assert_int_equal(rpma_flush(c.conn, remote, 0, 1, RPMA_FLUSH_TYPE_VISIBILITY, kAlways, nullptr),
                     RPMA_E_AGAIN);
    world.post_result = EINVAL;
    EXPECT_FAILS(RPMA_E_PROVIDER,
                 rpma_flush(c.conn, remote, 0, 1, RPMA_FLUSH_TYPE_VISIBILITY, kAlways, nullptr),
                 harness::kHeadersKnowFlush ? "ibv_wr_flush of 1 bytes" : "ibv_post_send");
    world.post_result = 0;
    rpma_mr_remote_delete(&other);
    rpma_mr_remote_delete(&remote);
}

/// A peer without native flush flushes by a read, and must be allowed to.
void regions_to_be_flushed_natively_can_be_read_too(void**) {
    world.cap_flags_ex = harness::kCapFlush;
    rpma_peer* peer = harness::make_peer();
    char memory[8];
    for (const int usage : {kVisibleUsage, kPersistentUsage, kVisibleUsage | kPersistentUsage}) {
        rpma_mr_local* region = harness::make_region(peer, memory, sizeof(memory), usage);
        const int native = harness::kHeadersKnowFlush ? (usage >> 4) << 8 : 0;
        assert_int_equal(world.last_access, IBV_ACCESS_REMOTE_READ | native);
        EXPECT_OK(rpma_mr_dereg(&region));
    }
    EXPECT_OK(rpma_peer_delete(&peer));
}

/// An atomic write is fenced behind flushes that are reads, and only behind those.
void atomic_writes_know_how_flushes_are_done(void**) {
    for (const std::uint64_t flush : {std::uint64_t{0}, harness::kCapFlush}) {
        world.cap_flags_ex = harness::kCapAtomicWrite | flush;
        world.sends.clear();
        const Connected c;
        rpma_mr_remote* remote = harness::make_remote(kRemote, 64, 5, 0xff);
        EXPECT_OK(rpma_atomic_write(c.conn, remote, 0, "12345678", kAlways, nullptr));
        const bool fenced = (world.sends.at(0).flags & IBV_SEND_FENCE) != 0;
        assert_int_equal(fenced, flush == 0 || !harness::kHeadersKnowFlush);
        rpma_mr_remote_delete(&remote);
    }
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(types_are_allowed_by_usage_and_declaration),
        TEST(a_declaration_can_be_taken_back),
        TEST(flags_decide_about_the_completion),
        TEST(the_read_stays_inside_the_region),
        TEST(ranges_beyond_4_gib_are_flushed),
        TEST(native_flushes_are_used_where_they_are),
        TEST(native_flushes_are_refused_as_others_are),
        TEST(regions_to_be_flushed_natively_can_be_read_too),
        TEST(atomic_writes_know_how_flushes_are_done),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
