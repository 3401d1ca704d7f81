// SPDX-License-Identifier: BSD-3-Clause
// What the device says it can do.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "memory/table.hpp"
#include "rc/endpoint.hpp"

namespace fabric::verbs::limits {

inline constexpr int kMaxQp = 1 << 16;
inline constexpr int kMaxQpWr = 1 << 16;
inline constexpr int kMaxSge = rc::kMaxSge;
inline constexpr int kMaxInline = rc::kMaxInline;
inline constexpr std::uint32_t kInlinePerSge = sizeof(ibv_sge);
inline constexpr int kMaxCq = 1 << 16;
inline constexpr int kMaxCqe = (1 << 22) - 1;
inline constexpr int kMaxMr = memory::kMaxRegions;
inline constexpr int kMaxPd = 1 << 16;
inline constexpr int kMaxSrq = 1 << 16;
inline constexpr int kMaxSrqWr = 1 << 20;
inline constexpr int kMaxReadAtomic =
    128;  // outstanding reads and atomics of a queue pair, each direction
inline constexpr std::uint32_t kMaxMessage = 1U << 31;
inline constexpr int kGidTable = 256;
inline constexpr std::uint16_t kPkey = 0xffff;
inline constexpr std::uint8_t kPort = 1;  // the only one

// Bits of device_cap_flags_ex (uapi/rdma/ib_user_verbs.h); older headers do not name them.
inline constexpr std::uint64_t kCapFlushGlobal = 1ULL << 38;
inline constexpr std::uint64_t kCapFlushPersistent = 1ULL << 39;
inline constexpr std::uint64_t kCapAtomicWrite = 1ULL << 40;
// Access bits of native flush; likewise.
inline constexpr unsigned kAccessFlushGlobal = 1U << 8;
inline constexpr unsigned kAccessFlushPersistent = 1U << 9;

}  // namespace fabric::verbs::limits
