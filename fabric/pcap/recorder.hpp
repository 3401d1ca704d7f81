// SPDX-License-Identifier: BSD-3-Clause
// Records what this process sends and receives as RoCEv2 frames, in a file for Wireshark and tshark
// (pcap, nanoseconds). On if RPMA_FABRIC_PCAP names a file. The process that the launcher starts
// (RPMA_FABRIC_PCAP_PID) writes to that file, every other one to a file with its process number
// behind the name. Each frame is written whole by one write(), at once, so the file can be read
// while it grows. Off (the default) it costs one load and one predictable branch.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/placement.hpp"

namespace fabric::pcap {

namespace detail {
extern std::atomic<signed char> state;  // -1 not known yet, 0 off, 1 on
bool decide();
}  // namespace detail

inline bool enabled() {
    const signed char known = detail::state.load(std::memory_order_relaxed);
    return known != 0 && (known > 0 || detail::decide());
}

// All of these are thread-safe, and called only if enabled(). The addresses of a link, from when
// they are known:
void opened(std::uint64_t link, const sockaddr_storage& local, const sockaddr_storage& peer);
void closed(std::uint64_t link);

// A packet of `headers` as encoded, the payload in registered memory and otherwise, and `pad`
// bytes. What cannot be read is recorded as zeros.
void sent(std::uint64_t link, std::span<const std::byte> headers, memory::Target payload,
          std::span<const std::byte> more_payload, std::size_t pad);
// A whole packet: headers, payload, padding.
void received(std::uint64_t link, std::span<const std::byte> packet);

}  // namespace fabric::pcap
