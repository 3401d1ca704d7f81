// SPDX-License-Identifier: BSD-3-Clause
// The InfiniBand transport packet: headers as values, and their encoding (IBTA vol. 1, chapter 9;
// annex A19).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fabric::wire {

enum class Opcode : std::uint8_t {
    SendFirst = 0x00,
    SendMiddle = 0x01,
    SendLast = 0x02,
    SendLastImm = 0x03,
    SendOnly = 0x04,
    SendOnlyImm = 0x05,
    WriteFirst = 0x06,
    WriteMiddle = 0x07,
    WriteLast = 0x08,
    WriteLastImm = 0x09,
    WriteOnly = 0x0a,
    WriteOnlyImm = 0x0b,
    ReadRequest = 0x0c,
    ReadResponseFirst = 0x0d,
    ReadResponseMiddle = 0x0e,
    ReadResponseLast = 0x0f,
    ReadResponseOnly = 0x10,
    Acknowledge = 0x11,
    AtomicAcknowledge = 0x12,
    CompareSwap = 0x13,
    FetchAdd = 0x14,
    SendLastInvalidate = 0x16,
    SendOnlyInvalidate = 0x17,
    Flush = 0x1c,
    AtomicWrite = 0x1d,
    UdSendOnly = 0x64,
};

inline constexpr std::uint32_t kPsnMask = 0xffffff;
inline constexpr std::uint32_t kCmQpNumber = 1;
inline constexpr std::uint32_t kCmQKey = 0x80010000;

// The longest header chain there is; a buffer of this size holds any packet's headers.
inline constexpr std::size_t kMaxHeaderBytes = 64;

// Every header field a packet can carry; which of them are meaningful follows from the opcode.
struct Header {
    Opcode opcode{};
    bool solicited = false;
    bool ack_request = false;
    bool overtakes = false;            // a reserved bit: see doc/persistence-model.md
    std::uint8_t pad = 0;              // 0..3 bytes behind the payload
    std::uint32_t destination_qp = 0;  // 24 bits
    std::uint32_t psn = 0;             // 24 bits
    std::uint64_t remote_address = 0;  // RETH, AtomicETH
    std::uint32_t rkey = 0;            // RETH, AtomicETH, IETH
    std::uint32_t dma_length = 0;      // RETH
    std::uint64_t swap_or_add = 0;     // AtomicETH
    std::uint64_t compare = 0;         // AtomicETH
    std::uint8_t syndrome = 0;         // AETH
    std::uint32_t msn = 0;             // AETH, 24 bits
    std::uint64_t original = 0;        // AtomicAckETH
    std::uint32_t immediate = 0;       // ImmDt, network order, as the program gave it
    std::uint8_t flush_type = 0;       // FETH: 1 global visibility, 2 persistence
    std::uint8_t flush_level = 0;      // FETH: 0 range, 1 whole region
    std::uint32_t q_key = 0;           // DETH
    std::uint32_t source_qp = 0;       // DETH, 24 bits
};

// Bytes of the header chain of this opcode; 0 for an opcode that does not exist.
std::size_t header_bytes(Opcode opcode);

// Writes the header chain; `out` must hold header_bytes(header.opcode). Returns the bytes written.
std::size_t encode(const Header& header, std::span<std::byte> out);

// Reads the header chain at the start of `in`. Nothing if `in` is too short, the opcode unknown,
// the transport version not 0 or a reserved field makes the packet unreadable. Hostile input is
// expected here.
std::optional<Header> decode(std::span<const std::byte> in);

// What is where in a frame on a byte stream: a 4-byte big-endian length, then headers, payload and
// pad.
inline constexpr std::size_t kFrameLengthBytes = 4;

}  // namespace fabric::wire
