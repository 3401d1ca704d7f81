// SPDX-License-Identifier: BSD-3-Clause
// A region on persistent memory, written and flushed to visibility and to persistence, and a word
// written atomically. Arguments: the path of the memory, "native" or "emulated": what the
// completions must say that was posted. The traffic itself is traced around this program.
#include <cstring>

#include "common/pattern.hpp"
#include "common/session.hpp"
#include "vm/scenarios/pmem_map.hpp"

namespace {

constexpr std::size_t kSize = 2UL << 20U;
constexpr std::size_t kData = 4096;
constexpr std::uint64_t kWord = 0x0123456789abcdefU;

// IBV_WC_FLUSH and IBV_WC_ATOMIC_WRITE, which older headers do not have.
constexpr int kFlushOpcode = 8;
constexpr int kAtomicWriteOpcode = 9;

ibv_wc complete(const it::Attached& attached) {
    const ibv_wc wc = it::next_completion(it::main_cq(attached.conn()));
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    return wc;
}

void flush(const it::Attached& attached, rpma_flush_type type, bool native) {
    CHECK_OK(rpma_flush(attached.conn(), attached.remote.get(), 0, kData, type,
                        RPMA_F_COMPLETION_ALWAYS, nullptr));
    CHECK_EQ(complete(attached).opcode, native ? kFlushOpcode : int{IBV_WC_RDMA_READ});
}

void write_word(const it::Attached& attached, bool native) {
    char word[8];
    std::memcpy(word, &kWord, sizeof word);
    CHECK_OK(rpma_atomic_write(attached.conn(), attached.remote.get(), kData, word,
                               RPMA_F_COMPLETION_ALWAYS, nullptr));
    CHECK_EQ(complete(attached).opcode, native ? kAtomicWriteOpcode : int{IBV_WC_RDMA_WRITE});
}

}  // namespace

void server(it::Role& role) {
    const it::PmemMap memory(role.arguments.front(), kSize);
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::LocalMr mr = it::register_memory(
        peer.get(), memory.bytes(), it::kUsualUsage | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    const it::Connection connection = it::accept(endpoint.get(), nullptr, it::describe(mr.get()));
    it::expect_closed(connection.get());
    it::check_filled(memory.bytes().subspan(0, kData), 7);
    CHECK(std::memcmp(memory.bytes().data() + kData, &kWord, sizeof kWord) == 0);
}

void client(it::Role& role) {
    const bool native = role.has_argument("native");
    const it::Attached attached = it::attach(role, kData);
    it::declare_direct_write(attached.conn());
    it::fill(attached.local.bytes(), 7);
    attached.write(0, 0, kData);
    flush(attached, RPMA_FLUSH_TYPE_VISIBILITY, native);
    flush(attached, RPMA_FLUSH_TYPE_PERSISTENT, native);
    write_word(attached, native);
    it::disconnect(attached.conn());
}
