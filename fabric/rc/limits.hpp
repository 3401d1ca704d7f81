// SPDX-License-Identifier: BSD-3-Clause
// Numbers of the transport that are choices, not protocol.
#pragma once

#include <chrono>
#include <cstdint>

namespace fabric::rc {

// The longest message there is (IBTA vol. 1, 9.7.7).
inline constexpr std::uint32_t kMaxMessage = 1U << 31;

// Requests taken in without being asked for an acknowledgement are acknowledged after this time at
// the latest.
inline constexpr std::chrono::microseconds kLazyAckDelay{1000};

// A request that a queue pair in error has dropped is asked for again after this time, about an
// adapter's timeout, until the sender's tries are used up.
inline constexpr std::chrono::milliseconds kDroppedTime{500};

// A sender that needs no completion still asks for an acknowledgement after this part of its queue.
inline constexpr std::uint32_t kQuietShare = 4;

}  // namespace fabric::rc
