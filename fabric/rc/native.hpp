// SPDX-License-Identifier: BSD-3-Clause
// Names of the memory placement extensions (annex A19) that older rdma-core headers lack. The
// numbers are rdma-core's.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace fabric::rc {

inline constexpr unsigned kAccessFlushGlobal = 1U << 8;      // IBV_ACCESS_FLUSH_GLOBAL
inline constexpr unsigned kAccessFlushPersistent = 1U << 9;  // IBV_ACCESS_FLUSH_PERSISTENT

inline constexpr auto kWcFlush = static_cast<ibv_wc_opcode>(8);        // IBV_WC_FLUSH
inline constexpr auto kWcAtomicWrite = static_cast<ibv_wc_opcode>(9);  // IBV_WC_ATOMIC_WRITE

// Placement types are bits; a request may ask for both.
inline constexpr std::uint8_t kFlushGlobal = 1;
inline constexpr std::uint8_t kFlushPersistent = 2;
inline constexpr std::uint8_t kFlushRange = 0;
inline constexpr std::uint8_t kFlushRegion = 1;

// The access rights that a flush of these types needs.
constexpr unsigned flush_access(std::uint8_t type) {
    return ((type & kFlushGlobal) != 0 ? kAccessFlushGlobal : 0) |
           ((type & kFlushPersistent) != 0 ? kAccessFlushPersistent : 0);
}

}  // namespace fabric::rc
