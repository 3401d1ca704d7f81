// SPDX-License-Identifier: BSD-3-Clause
// The trace: one line per packet and per event, for a user who wants to see what happened on the
// wire. Fields, separated by blanks:
//
//   time(seconds.microseconds since boot) pid link direction opcode dest_qp psn bytes details
//
// direction is > for sent, < for received, ! for an event; an event line has its text instead of
// the fields after direction. Lines are written whole with one write() to a file opened with
// O_APPEND, so several processes may share the file. Off (the default) it costs one load and one
// predictable branch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "wire/packet.hpp"

namespace fabric::trace {

enum class Direction : char { Sent = '>', Received = '<' };

namespace detail {
extern std::atomic<signed char> state;  // -1 not known yet, 0 off, 1 on
bool decide();
}  // namespace detail

inline bool enabled() {
    const signed char known = detail::state.load(std::memory_order_relaxed);
    return known != 0 && (known > 0 || detail::decide());
}

// Thread-safe. Call only if enabled().
void packet(std::uint64_t link, Direction direction, const wire::Header& header,
            std::size_t payload_bytes);
[[gnu::format(printf, 2, 3)]] void event(std::uint64_t link, const char* format, ...);

// The opcode's name as the trace shows it, for example "WRITE_ONLY".
const char* opcode_name(wire::Opcode opcode);

}  // namespace fabric::trace
