// SPDX-License-Identifier: BSD-3-Clause
// The TCP baseline: what the same operation costs as a request to a service. A request is a header
// and, except for reads, the bytes; the answer to a read or a ping-pong is as many bytes, to the
// last request of a batch of anything else kTcpAck bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perf {

enum class TcpAction : std::uint8_t {
    read,     // answer with the bytes at the offset
    store,    // put the bytes there
    commit,   // put the bytes there, then the word behind them
    persist,  // put the bytes there and make them durable
    message,  // take the bytes
    echo,     // send the bytes back
};

struct TcpHeader {
    std::uint64_t offset;  // in the target's memory, little endian
    std::uint32_t size;    // of the bytes, little endian
    TcpAction action;
    std::uint8_t wants_ack;
    std::uint16_t reserved;
};
static_assert(sizeof(TcpHeader) == 16);

inline constexpr std::size_t kTcpAck = 8;

}  // namespace perf
