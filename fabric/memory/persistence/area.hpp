// SPDX-License-Identifier: BSD-3-Clause
// A stretch of persistent memory and the account of it: what is at risk, piece by piece.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "memory/persistence/operation.hpp"

namespace fabric::memory::persistence {

// A piece of an operation whose bytes are what the memory holds now. Its begin is the key.
struct Piece {
    std::uint64_t end = 0;
    Operation* operation = nullptr;
    Stage stage = Stage::Arriving;
    std::uint64_t since = 0;  // the model's moment at which it became visible
};

// What an operation, or the CPU, had written into a line before something newer covered it there.
struct Version {
    std::uint64_t mask = 0;          // which bytes of the line
    Operation* operation = nullptr;  // nullptr: stored by the CPU
    Stage stage = Stage::Adapter;
    std::uint64_t since = 0;  // as in Piece
    std::array<std::byte, kLine> bytes{};
};

// Oldest first.
struct Buried {
    static constexpr std::size_t kMax = 4;
    std::uint32_t count = 0;
    std::array<Version, kMax> versions;
};

struct Area {
    std::string name;
    std::byte* memory = nullptr;  // what the CPU sees
    std::byte* image = nullptr;   // what is durable
    std::uint64_t length = 0;
    std::uint64_t file_offset = 0;

    std::map<std::uint64_t, Piece> pieces;             // disjoint
    std::unordered_map<std::uint64_t, Buried> buried;  // by number of the line

    // The first piece that ends behind `begin`.
    std::map<std::uint64_t, Piece>::iterator first_behind(std::uint64_t begin) {
        auto at = pieces.upper_bound(begin);
        if (at != pieces.begin()) {
            const auto before = std::prev(at);
            if (before->second.end > begin) {
                return before;
            }
        }
        return at;
    }
};

// Bits of the bytes [begin, end) of an area that lie in a line.
constexpr std::uint64_t line_mask(std::uint64_t line, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t first = line * kLine;
    const std::uint64_t from = begin > first ? begin - first : 0;
    const std::uint64_t to = end < first + kLine ? end - first : kLine;
    if (from >= to) {
        return 0;
    }
    const std::uint64_t below_to = to == kLine ? ~0ULL : (1ULL << to) - 1;
    return below_to & ~((1ULL << from) - 1);
}

}  // namespace fabric::memory::persistence
