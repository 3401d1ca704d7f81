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

#include "log.hpp"
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

// What is no packet goes to the log as well. `link` 0: it belongs to none. Call event() only if
// event_enabled().
inline bool event_enabled(LogLevel level) {
    return enabled() || log_enabled(level);
}
[[gnu::format(printf, 3, 4)]] void event(LogLevel level, std::uint64_t link, const char* format,
                                         ...);

// The opcode's name as the trace shows it, for example "WRITE_ONLY".
const char* opcode_name(wire::Opcode opcode);

}  // namespace fabric::trace
