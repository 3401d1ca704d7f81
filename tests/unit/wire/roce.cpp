// SPDX-License-Identifier: BSD-3-Clause
// RoCEv2 frames as bytes.
#include "wire/roce.hpp"

#include <algorithm>
#include <cstring>

#include "cmocka.hpp"

using namespace fabric;

namespace {

constexpr std::size_t kEthernet = 14;

std::byte byte_of(unsigned value) {
    return static_cast<std::byte>(value);
}

template <std::size_t kSize>
std::vector<std::byte> bytes_of(const std::array<unsigned, kSize>& values) {
    std::vector<std::byte> out;
    std::transform(values.begin(), values.end(), std::back_inserter(out), byte_of);
    return out;
}

wire::RoceEnd v4_end(unsigned last) {
    wire::RoceEnd end;
    end.address = {byte_of(192), byte_of(0), byte_of(2), byte_of(last)};
    end.mac = {byte_of(2), byte_of(0), byte_of(192), byte_of(0), byte_of(2), byte_of(last)};
    return end;
}

wire::RocePath v4_path() {
    return {v4_end(1), v4_end(2), false, 49153};
}

wire::RocePath v6_path() {
    wire::RocePath path = v4_path();
    path.ipv6 = true;
    for (auto* const end : {&path.source, &path.destination}) {
        end->address = {};
        end->address[0] = byte_of(0xfd);
    }
    path.source.address[15] = byte_of(1);
    path.destination.address[15] = byte_of(2);
    return path;
}

// A SEND only, solicited, of eight bytes.
std::vector<std::byte> packet() {
    return bytes_of(std::array<unsigned, 20>{0x04, 0xc0, 0xff, 0xff, 0x00, 0x01, 0x23,
                                             0x45, 0x80, 0x67, 0x89, 0xab, 'R',  'o',
                                             'C',  'E',  'v',  '2',  '!',  '!'});
}

// Made by another implementation (Scapy 2.5).
void v4_frame_is_as_others_make_it(void**) {
    const auto wanted = bytes_of(std::array<unsigned, 66>{
        0x02, 0x00, 0xc0, 0x00, 0x02, 0x02, 0x02, 0x00, 0xc0, 0x00, 0x02, 0x01, 0x08, 0x00,
        0x45, 0x00, 0x00, 0x34, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb6, 0xb5, 0xc0, 0x00,
        0x02, 0x01, 0xc0, 0x00, 0x02, 0x02, 0xc0, 0x01, 0x12, 0xb7, 0x00, 0x20, 0x00, 0x00,
        0x04, 0xc0, 0xff, 0xff, 0x00, 0x01, 0x23, 0x45, 0x80, 0x67, 0x89, 0xab, 0x52, 0x6f,
        0x43, 0x45, 0x76, 0x32, 0x21, 0x21, 0xd5, 0x86, 0x7a, 0xde});
    const auto frame = wire::roce_frame(v4_path(), packet());
    assert_int_equal(frame.size(), wanted.size());
    assert_memory_equal(frame.data(), wanted.data(), wanted.size());
}

// The sum of all words, the checksum among them, is all ones (RFC 1071).
unsigned sum_of(std::span<const std::byte> bytes) {
    unsigned sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        sum += std::to_integer<unsigned>(bytes[i]) << (i % 2 == 0 ? 8 : 0);
    return (sum & 0xffff) + (sum >> 16);
}

void v6_frame(void**) {
    const auto frame = wire::roce_frame(v6_path(), packet());
    const auto ip = std::span(frame).subspan(kEthernet);
    assert_int_equal(frame.size(), kEthernet + 40 + 8 + 20 + 4);
    assert_int_equal(std::to_integer<int>(frame[12]) << 8 | std::to_integer<int>(frame[13]),
                     0x86dd);
    const auto start = bytes_of(std::array<unsigned, 8>{0x60, 0, 0, 0, 0, 32, 17, 64});
    assert_memory_equal(ip.data(), start.data(), start.size());
    const auto udp = bytes_of(std::array<unsigned, 6>{0xc0, 0x01, 0x12, 0xb7, 0, 32});
    assert_memory_equal(ip.data() + 40, udp.data(), udp.size());
    const unsigned pseudo = sum_of(ip.subspan(8, 32)) + 32 + 17;
    assert_int_equal((pseudo + sum_of(ip.subspan(40))) % 0xffff, 0);
}

void crc_is_of_what_no_router_changes(void**) {
    for (const auto& path : {v4_path(), v6_path()}) {
        const auto frame = wire::roce_frame(path, packet());
        std::vector<std::byte> ip(frame.begin() + kEthernet, frame.end() - 4);
        const std::uint32_t crc = wire::invariant_crc(ip);
        const std::size_t header = path.ipv6 ? 40 : 20;
        std::vector<std::size_t> varying = {header + 6, header + 7, header + 8 + 4};
        const auto more = path.ipv6 ? std::vector<std::size_t>{0, 1, 2, 3, 7}
                                    : std::vector<std::size_t>{1, 8, 10, 11};
        varying.insert(varying.end(), more.begin(), more.end());
        for (std::size_t i = 0; i < ip.size(); ++i) {
            ip[i] ^= byte_of(0x01);
            const bool same = wire::invariant_crc(ip) == crc;
            const bool may_vary = std::find(varying.begin(), varying.end(), i) != varying.end();
            assert_int_equal(same, may_vary);
            ip[i] ^= byte_of(0x01);
        }
    }
}

void too_long_for_a_frame(void**) {
    std::vector<std::byte> longest(wire::kRoceMaxPacket, byte_of(1));
    const auto whole = wire::roce_frame(v4_path(), longest);
    assert_int_equal(whole.size(), kEthernet + 0xffff);
    longest.push_back(byte_of(1));
    const auto cut = wire::roce_frame(v4_path(), longest);
    assert_int_equal(cut.size(), kEthernet + 0xffff - 4);
    assert_int_equal(std::to_integer<int>(cut[16]), 0xff);
    assert_int_equal(std::to_integer<int>(cut[17]), 0xff);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(v4_frame_is_as_others_make_it),
        cmocka_unit_test(v6_frame),
        cmocka_unit_test(crc_is_of_what_no_router_changes),
        cmocka_unit_test(too_long_for_a_frame),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
