// SPDX-License-Identifier: BSD-3-Clause
#include "common/pattern.hpp"

#include <algorithm>
#include <cstring>

#include "common/check.hpp"

namespace it {
namespace {

// splitmix64, by Sebastiano Vigna (public domain).
std::uint64_t mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
}

std::byte byte_at(std::size_t place, std::uint64_t seed) {
    return static_cast<std::byte>(mix(seed + place / 8) >> (8 * (place % 8)));
}

}  // namespace

void fill(std::span<std::byte> bytes, std::uint64_t seed) {
    for (std::size_t place = 0; place < bytes.size(); place += 8) {
        const std::uint64_t word =
            mix(seed + place / 8);  // least significant byte first, as byte_at
        std::memcpy(bytes.data() + place, &word, std::min<std::size_t>(8, bytes.size() - place));
    }
}

void check_filled(std::span<const std::byte> bytes, std::uint64_t seed) {
    for (std::size_t place = 0; place < bytes.size(); place += 8) {
        const std::uint64_t word = mix(seed + place / 8);
        if (std::memcmp(bytes.data() + place, &word,
                        std::min<std::size_t>(8, bytes.size() - place)) == 0) {
            continue;
        }
        while (bytes[place] == byte_at(place, seed)) {
            ++place;
        }
        FAIL("byte %zu of %zu is 0x%02x, expected 0x%02x", place, bytes.size(),
             static_cast<unsigned>(bytes[place]), static_cast<unsigned>(byte_at(place, seed)));
    }
}

void check_all(std::span<const std::byte> bytes, std::byte value) {
    const auto wrong =
        std::find_if(bytes.begin(), bytes.end(), [&](std::byte byte) { return byte != value; });
    if (wrong != bytes.end()) {
        FAIL("byte %td of %zu is 0x%02x, expected 0x%02x", wrong - bytes.begin(), bytes.size(),
             static_cast<unsigned>(*wrong), static_cast<unsigned>(value));
    }
}

}  // namespace it
