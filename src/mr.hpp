// SPDX-License-Identifier: BSD-3-Clause
// Memory regions, local and remote. Both keep what the data path needs ready at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "handles.hpp"
#include "object.hpp"
#include "peer.hpp"
#include "public.hpp"

namespace rpma {

/// Whether a read may go there. On iWARP that needs a region that is writable from outside.
inline bool takes_reads(int usage, bool iwarp) {
    constexpr int kWritableFromOutside = RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_DST;
    constexpr int kWritable = kWritableFromOutside | RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_RECV;
    return (usage & (iwarp ? kWritableFromOutside : kWritable)) != 0;
}

/// On iWARP the destination of a read is writable from outside too.
inline bool can_be_written_remotely(int usage, bool iwarp) {
    return (usage & (RPMA_MR_USAGE_WRITE_DST | (iwarp ? RPMA_MR_USAGE_READ_DST : 0))) != 0;
}

inline bool can_be_read_remotely(int usage) {
    return (usage & (RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
                     RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)) != 0;
}

/// How far into a region the fast path goes: an end at or below this limit needs neither a 64-bit
/// length nor further checks. 0 where the usage does not allow the operation at all.
inline std::uint64_t fast_limit(bool allowed, std::uint64_t size) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
    return allowed ? (size < kMax ? size : kMax) : 0;
}

/// Whether offset and length lie within size.
inline bool inside(std::uint64_t size, std::uint64_t offset, std::uint64_t length) {
    return offset <= size && length <= size - offset;
}

/// The bits of 1 << RPMA_FLUSH_TYPE_* in a usage.
inline unsigned flush_types_of(int usage) {
    const unsigned persistent = (usage & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT) != 0;
    const unsigned visible = (usage & RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY) != 0;
    return persistent << RPMA_FLUSH_TYPE_PERSISTENT | visible << RPMA_FLUSH_TYPE_VISIBILITY;
}

/// Bytes of a region's descriptor: address 8, size 8, rkey 4, usage 1, little-endian.
inline constexpr std::size_t kMrDescriptorSize = 21;

}  // namespace rpma

struct rpma_mr_local {
    /// Fails with RPMA_E_NOMEM, RPMA_E_PROVIDER.
    static rpma::Status open(rpma_peer* peer, void* start, std::size_t size, int usage,
                             rpma::Owned<rpma_mr_local>& out);
    rpma::Status close();

    std::uint64_t address = 0;
    std::uint64_t lkey_high = 0;          ///< lkey << 32
    std::uint64_t source_limit = 0;       ///< fast limit as source, and as place for a receive
    std::uint64_t destination_limit = 0;  ///< fast limit as destination of a read
    std::uint64_t size = 0;
    int usage = 0;
    rpma::Ref<rpma_peer> peer;
    rpma::Mr mr;
};

struct rpma_mr_remote {
    /// False for what no honest peer can have sent.
    bool decode(const void* descriptor);

    alignas(16) std::uint64_t address = 0;
    std::uint32_t rkey = 0;
    int usage = 0;
    std::uint64_t destination_limit = 0;  ///< fast limit as destination of a write
    std::uint64_t source_limit = 0;       ///< fast limit as source of a read
    /// The length of what a flush reads, 1 to FlushBuffer::kSize; the rest is 0.
    alignas(16) ibv_sge probe = {};
    std::uint64_t last_probe = 0;  ///< offset of the last FlushBuffer::kSize bytes, 0 if smaller
    std::uint64_t size = 0;
    /// An atomic write is fast at multiples of 8 below this; 0 if none is.
    std::uint64_t atomic_limit = 0;
    unsigned flush_types = 0;  ///< a bit for each RPMA_FLUSH_TYPE_* the usage allows
};
