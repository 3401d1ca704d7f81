// SPDX-License-Identifier: BSD-3-Clause
// The numbers of the TCP carrier that one may want to turn.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>

#include "config.hpp"
#include "wire/packet.hpp"

namespace fabric::carrier {

// A peer that is silent for about this long while it should answer is taken for dead.
inline constexpr std::chrono::seconds kDeadPeer{20};
inline constexpr std::chrono::seconds kLivenessPeriod{
    5};  // how often that is looked at while data are under way
inline constexpr int kKeepaliveIdleSeconds =
    10;  // on a link where nothing is under way, the kernel looks
inline constexpr int kKeepaliveIntervalSeconds = 5;
inline constexpr int kKeepaliveProbes = 2;

// How long a closed link goes on sending what was queued and waiting for the peer's end.
inline constexpr std::chrono::seconds kLinger{3};
// How long packets for a queue pair that is gone are thrown away before the link is ended.
inline constexpr std::chrono::seconds kDetachedGrace{2};
// The end of a link that a fault was asked for on.
inline constexpr int kCutError = ECONNABORTED;
// Pause of accept() after it failed for want of descriptors or memory.
inline constexpr std::chrono::milliseconds kAcceptPause{100};

// Payload up to this size is collected whole and then copied; above, it is received straight into
// its place.
inline constexpr std::size_t kSmallPayload = 4096;
// A frame is refused before anything else if its length is outside of these.
inline constexpr std::size_t kMinFrame = 12;
inline constexpr std::size_t kMaxFrame = wire::kMaxHeaderBytes + kMaxStreamMtu + 3;

// Receiving: one buffer for the engine's thread, and what one link may take of a round.
inline constexpr std::size_t kScratchRead = 64U << 10;
inline constexpr std::size_t kReceiveBudget = 1U << 20;

// Sending: what one sendmsg() can take.
inline constexpr std::size_t kSendStaging = 12U << 10;
inline constexpr std::size_t kCopyPayload =
    512;  // registered memory up to this size is copied, not referred to
inline constexpr std::size_t kSendPieces = 256;
inline constexpr std::size_t kSendBudget = 8U << 20;  // bytes before other links get their turn

}  // namespace fabric::carrier
