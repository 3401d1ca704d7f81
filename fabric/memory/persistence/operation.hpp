// SPDX-License-Identifier: BSD-3-Clause
// What placed bytes by the network, and how far these have come.
#pragma once

#include <cstdint>
#include <vector>

namespace fabric::memory::persistence {

inline constexpr std::uint64_t kLine = 64;
inline constexpr std::uint64_t kWord = 8;

enum class Kind : std::uint8_t {
    Write,
    WriteImm,
    AtomicWrite,
    CompareSwap,
    FetchAdd,
    Send,        // payload in a receive buffer
    ReadResult,  // of a read by this process
};

enum class Stage : std::uint8_t { Arriving, Adapter, Visible };

// A range of bytes of an area.
struct Range {
    std::uint32_t area = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    std::uint64_t length() const { return end - begin; }
};

// What has happened to an operation; why it is not durable is read from this.
enum Mark : std::uint8_t {
    kReadBehind = 1 << 0,       // a read or flush pushed it, which was not enough
    kMessageBehind = 1 << 1,    // the target's program was told by a message
    kTooEarly = 1 << 2,         // the CPU persisted it when nothing had made it visible
    kPartlyDurable = 1 << 3,    // some of its bytes became durable
    kConnectionEnded = 1 << 4,  // its queue pair is gone
    kFlushedOnly = 1 << 5,      // flushed by the CPU, but not drained
    kVisibleFlush = 1 << 6,     // a native flush asked for visibility only
};

struct Operation {
    std::uint64_t number = 0;  // of this process, from 1
    std::uint64_t event = 0;   // the counted event that it was
    std::uint64_t time = 0;    // nanoseconds since the account began
    std::uint32_t connection = 0;
    Kind kind = Kind::Write;
    Stage stage = Stage::Arriving;  // of the pieces that got farthest
    std::uint8_t marks = 0;
    std::uint32_t references = 0;  // pieces and buried versions
    std::vector<Range> ranges;     // as placed
};

}  // namespace fabric::memory::persistence
