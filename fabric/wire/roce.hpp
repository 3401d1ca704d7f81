// SPDX-License-Identifier: BSD-3-Clause
// A packet as RoCEv2 carries it (IBTA vol. 1, annex A17): Ethernet, IPv4 or IPv6, UDP to port 4791,
// the packet, and the invariant CRC over what no router changes. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fabric::wire {

inline constexpr std::uint16_t kRocePort = 4791;
inline constexpr std::size_t kRoceCrcBytes = 4;
// The longest packet that fits a frame: the length fields of IP and UDP have 16 bits.
inline constexpr std::size_t kRoceMaxPacket = 0xffff - 20 - 8 - kRoceCrcBytes;

struct RoceEnd {
    std::array<std::byte, 16> address{};  // an IPv4 address is in the first four
    std::array<std::byte, 6> mac{};
};

struct RocePath {
    RoceEnd source;
    RoceEnd destination;
    bool ipv6 = false;
    std::uint16_t source_port = 0;  // of UDP; tells connections apart
};

// The frame from the Ethernet header to the invariant CRC. `packet`: headers, payload and padding,
// of which there are not more than kRoceMaxPacket bytes; what is beyond is left out, and the CRC
// with it.
std::vector<std::byte> roce_frame(const RocePath& path, std::span<const std::byte> packet);

// Of an IP packet that holds one RoCEv2 packet, without the CRC itself.
std::uint32_t invariant_crc(std::span<const std::byte> ip_packet);

}  // namespace fabric::wire
