// SPDX-License-Identifier: BSD-3-Clause
// The syndrome byte of an AETH (IBTA vol. 1, 9.7.5.1).
#pragma once

#include <cstdint>

namespace fabric::rc {

enum class SyndromeClass : std::uint8_t { Ack = 0, RnrNak = 1, Reserved = 2, Nak = 3 };

constexpr SyndromeClass syndrome_class(std::uint8_t syndrome) {
    return static_cast<SyndromeClass>(syndrome >> 5 & 3U);
}

constexpr std::uint8_t syndrome_value(std::uint8_t syndrome) {
    return syndrome & 0x1fU;
}

inline constexpr std::uint8_t kAckNoCredits = 0x1f;
inline constexpr std::uint8_t kRnrNak = 0x20;  // with the timer code
inline constexpr std::uint8_t kNakSequence = 0x60;
inline constexpr std::uint8_t kNakInvalidRequest = 0x61;
inline constexpr std::uint8_t kNakRemoteAccess = 0x62;
inline constexpr std::uint8_t kNakRemoteOperation = 0x63;

}  // namespace fabric::rc
