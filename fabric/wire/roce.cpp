// SPDX-License-Identifier: BSD-3-Clause
#include "wire/roce.hpp"

#include <algorithm>

#include "wire/bytes.hpp"

namespace fabric::wire {
namespace {

constexpr std::size_t kEthernet = 14;
constexpr std::size_t kIpv4 = 20;
constexpr std::size_t kIpv6 = 40;
constexpr std::size_t kUdp = 8;
constexpr std::uint8_t kHops = 64;
constexpr std::uint8_t kUdpProtocol = 17;

constexpr std::array<std::uint32_t, 256> make_crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value & 1) != 0 ? value >> 1 ^ 0xedb88320 : value >> 1;
        table[i] = value;
    }
    return table;
}

// That of Ethernet.
std::uint32_t crc_of(std::uint32_t crc, std::span<const std::byte> bytes) {
    static constexpr auto kTable = make_crc_table();
    for (const std::byte byte : bytes)
        crc = kTable[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff] ^ crc >> 8;
    return crc;
}

// Sum of RFC 1071 over 16-bit words, not yet folded.
std::uint64_t sum_of(std::span<const std::byte> bytes) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        sum += std::to_integer<std::uint64_t>(bytes[i]) << (i % 2 == 0 ? 8 : 0);
    return sum;
}

std::uint16_t folded(std::uint64_t sum) {
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

void store16(std::span<std::byte> at, std::uint16_t value) {
    Writer(at.data()).put<2>(value);
}

template <std::size_t kBytes>
void append(std::vector<std::byte>& out, const std::array<std::byte, kBytes>& bytes,
            std::size_t count = kBytes) {
    out.insert(out.end(), bytes.begin(), bytes.begin() + static_cast<long>(count));
}

void append_number(std::vector<std::byte>& out, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;)
        out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void append_ethernet(std::vector<std::byte>& out, const RocePath& path) {
    append(out, path.destination.mac);
    append(out, path.source.mac);
    append_number(out, path.ipv6 ? 0x86dd : 0x0800, 2);
}

void append_ipv4(std::vector<std::byte>& out, const RocePath& path, std::size_t udp_bytes) {
    append_number(out, 0x4500, 2);
    append_number(out, std::min<std::size_t>(kIpv4 + udp_bytes, 0xffff), 2);
    append_number(out, 0x00004000, 4);  // not to be fragmented
    append_number(out, std::uint64_t{kHops} << 24 | std::uint64_t{kUdpProtocol} << 16, 4);
    append(out, path.source.address, 4);
    append(out, path.destination.address, 4);
    const auto header = std::span(out).last(kIpv4);
    store16(header.subspan(10), folded(sum_of(header)));
}

void append_ipv6(std::vector<std::byte>& out, const RocePath& path, std::size_t udp_bytes) {
    append_number(out, 0x60000000, 4);
    append_number(out, std::min<std::size_t>(udp_bytes, 0xffff), 2);
    append_number(out, std::uint64_t{kUdpProtocol} << 8 | kHops, 2);
    append(out, path.source.address);
    append(out, path.destination.address);
}

void append_udp(std::vector<std::byte>& out, const RocePath& path, std::size_t udp_bytes) {
    append_number(out, path.source_port, 2);
    append_number(out, kRocePort, 2);
    append_number(out, std::min<std::size_t>(udp_bytes, 0xffff), 2);
    append_number(out, 0, 2);  // no checksum
}

// IPv6 wants one (RFC 8200, 8.1): over the addresses, the length, the protocol, and all of UDP.
void set_udp_checksum(std::span<std::byte> ip_packet) {
    const auto udp = ip_packet.subspan(kIpv6);
    const std::uint16_t checksum =
        folded(sum_of(ip_packet.subspan(8, 32)) + udp.size() + kUdpProtocol + sum_of(udp));
    store16(udp.subspan(6), checksum == 0 ? 0xffff : checksum);
}

}  // namespace

std::vector<std::byte> roce_frame(const RocePath& path, std::span<const std::byte> packet) {
    const std::size_t udp_bytes = kUdp + packet.size() + kRoceCrcBytes;
    const auto kept = packet.first(std::min(packet.size(), kRoceMaxPacket));
    std::vector<std::byte> out;
    out.reserve(kEthernet + kIpv6 + kUdp + kept.size() + kRoceCrcBytes);
    append_ethernet(out, path);
    if (path.ipv6)
        append_ipv6(out, path, udp_bytes);
    else
        append_ipv4(out, path, udp_bytes);
    append_udp(out, path, udp_bytes);
    out.insert(out.end(), kept.begin(), kept.end());
    if (kept.size() < packet.size())
        return out;
    const std::uint32_t crc = invariant_crc(std::span(out).subspan(kEthernet));
    append_number(out, __builtin_bswap32(crc), kRoceCrcBytes);  // its lowest byte goes first
    if (path.ipv6)
        set_udp_checksum(std::span(out).subspan(kEthernet));
    return out;
}

// What routers change counts as ones, and eight bytes of ones are in front, for the local route
// header of InfiniBand.
std::uint32_t invariant_crc(std::span<const std::byte> ip_packet) {
    constexpr std::byte kOnes{0xff};
    constexpr std::size_t kBth = 12;
    std::array<std::byte, 8 + kIpv6 + kUdp + kBth> head;
    const bool ipv6 = std::to_integer<unsigned>(ip_packet[0]) >> 4 == 6;
    const std::size_t ip = ipv6 ? kIpv6 : kIpv4;
    std::fill_n(head.begin(), 8, kOnes);
    std::copy_n(ip_packet.begin(), ip + kUdp + kBth, head.begin() + 8);
    const auto at = [&head](std::size_t offset) -> std::byte& { return head[8 + offset]; };
    if (ipv6) {
        at(0) |= std::byte{0x0f};  // traffic class and flow label
        at(1) = at(2) = at(3) = kOnes;
        at(7) = kOnes;  // hop limit
    } else {
        at(1) = kOnes;            // type of service
        at(8) = kOnes;            // time to live
        at(10) = at(11) = kOnes;  // checksum
    }
    at(ip + 6) = at(ip + 7) = kOnes;  // checksum of UDP
    at(ip + kUdp + 4) = kOnes;        // congestion bits of the BTH
    const std::size_t done = ip + kUdp + kBth;
    const std::uint32_t crc = crc_of(0xffffffff, std::span(head).first(8 + done));
    return ~crc_of(crc, ip_packet.subspan(done));
}

}  // namespace fabric::wire
