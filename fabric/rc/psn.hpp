// SPDX-License-Identifier: BSD-3-Clause
// Packet sequence numbers: 24 bits, compared by the shorter way around (IBTA vol. 1, 9.7.2).
#pragma once

#include <cstdint>

#include "wire/packet.hpp"

namespace fabric::rc {

// At most half of the numbers may be unacknowledged, or old and new could not be told apart.
inline constexpr std::uint32_t kPsnWindow = 1U << 23;

constexpr std::uint32_t psn_add(std::uint32_t psn, std::uint32_t count) {
    return (psn + count) & wire::kPsnMask;
}

// How far `later` lies behind `earlier`, going upwards: 0 .. 2^24 - 1.
constexpr std::uint32_t psn_distance(std::uint32_t earlier, std::uint32_t later) {
    return (later - earlier) & wire::kPsnMask;
}

// `psn` lies before `reference`.
constexpr bool psn_before(std::uint32_t psn, std::uint32_t reference) {
    return psn_distance(psn, reference) - 1 < kPsnWindow;
}

// Packets that carry `length` bytes; a message of no bytes is one packet.
constexpr std::uint32_t packets_for(std::uint32_t length, std::uint32_t mtu) {
    return length == 0 ? 1 : static_cast<std::uint32_t>((std::uint64_t{length} + mtu - 1) / mtu);
}

}  // namespace fabric::rc
