// SPDX-License-Identifier: BSD-3-Clause
// Every number of the connection manager that is a choice, in one place.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace fabric::cm {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How long a connecting side waits for the link and for the answer to its request, and an accepting
// side for the last message of the handshake. The kernel repeats a message after 4.3 s; we send
// over a stream and wait for about four such periods.
inline constexpr milliseconds kAnswerTime{17'000};
// Where nobody listens, the link is tried again after these pauses before the program is told.
// Programs that open a listener and have their peer connect at once (perftest does) lean on the
// time a kernel takes to resolve and to connect, which is not there on a stream.
inline constexpr std::array kRefusedPauses = {milliseconds{5}, milliseconds{10}, milliseconds{20},
                                              milliseconds{40}, milliseconds{80}};
// A peer that has the request but whose program has not decided asks for more time with this code:
// 4.096 us << 24 is 68.7 s, as the kernel does.
inline constexpr std::uint8_t kServiceTimeoutCode = 24;
// How long an incoming link may stay silent before its request.
inline constexpr milliseconds kRequestTime{10'000};
// How long a disconnecting side waits for the peer's answer, which comes when the peer's program
// disconnects or destroys its id, before it counts as disconnected. The kernel asks again for some
// 68 s.
inline constexpr milliseconds kDisconnectTime{17'000};
// From DISCONNECTED to TIMEWAIT_EXIT.
inline constexpr milliseconds kTimeWait{500};

// Connect requests that may wait for the program; the kernel's limit, and what a backlog of 0
// means.
inline constexpr int kMaxBacklog = 1024;

// Fields of a REQ that have no effect on a stream but are filled as the kernel does.
inline constexpr std::uint8_t kResponseTimeoutCode = 20;
inline constexpr std::uint8_t kMaxCmRetries = 15;
inline constexpr std::uint8_t kAckTimeoutCode = 17;
inline constexpr std::uint8_t kPacketLifeTime = 16;
inline constexpr std::uint8_t kHopLimit = 64;
inline constexpr std::uint16_t kPartitionKey = 0xffff;
inline constexpr std::uint8_t kDefaultRetry = 7;

// Time a peer shall wait after a receiver-not-ready answer, as a code: 0.64 ms where it repeats for
// ever; 655 ms, the kernel's, where its tries are counted and have to outlast a busy receiver.
inline constexpr std::uint8_t kRnrTimerCode = 12;
inline constexpr std::uint8_t kCountedRnrTimerCode = 0;
inline constexpr std::uint8_t kRnrForEver = 7;
// Largest path MTU code InfiniBand knows (4096 bytes); larger ones are this carrier's.
inline constexpr std::uint8_t kMaxInfinibandMtuCode = 5;

inline constexpr int kEndpointResolveMs = 2000;

}  // namespace fabric::cm
