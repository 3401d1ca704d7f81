// SPDX-License-Identifier: BSD-3-Clause
#include "pattern.hpp"

#include <algorithm>
#include <cstring>

namespace perf {
namespace {

// The finaliser of splitmix64.
std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

// Calls visit(offset, word, bytes of it) for the words of the pattern.
template <typename Visit>
void for_each_word(std::size_t size, std::uint64_t seed, Visit visit) {
    for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
        visit(at, mix(seed + at), std::min(sizeof(std::uint64_t), size - at));
    }
}

std::size_t differing_bytes(std::uint64_t left, std::uint64_t right, std::size_t bytes) {
    std::size_t count = 0;
    for (std::uint64_t difference = left ^ right; bytes-- > 0; difference >>= 8) {
        count += (difference & 0xff) != 0 ? 1 : 0;
    }
    return count;
}

}  // namespace

std::uint64_t pattern_seed(std::uint64_t connection, std::uint64_t slot, std::uint64_t sequence) {
    return mix(mix(mix(connection) + slot) + sequence);
}

void fill_pattern(void* out, std::size_t size, std::uint64_t seed) {
    for_each_word(size, seed, [out](std::size_t at, std::uint64_t word, std::size_t bytes) {
        std::memcpy(static_cast<char*>(out) + at, &word, bytes);
    });
}

std::size_t count_mismatches(const void* data, std::size_t size, std::uint64_t seed) {
    std::size_t count = 0;
    for_each_word(size, seed, [&](std::size_t at, std::uint64_t word, std::size_t bytes) {
        std::uint64_t there = word;
        std::memcpy(&there, static_cast<const char*>(data) + at, bytes);
        if (there != word) {
            count += differing_bytes(there, word, sizeof(word));
        }
    });
    return count;
}

}  // namespace perf
