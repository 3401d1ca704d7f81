// SPDX-License-Identifier: BSD-3-Clause
// Bytes that tell where they belong: what --verify writes and expects.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perf {

// A number for one batch of operations; both sides compute the same.
std::uint64_t pattern_seed(std::uint64_t connection, std::uint64_t slot, std::uint64_t sequence);

void fill_pattern(void* out, std::size_t size, std::uint64_t seed);

// How many of the bytes are not those of the pattern.
std::size_t count_mismatches(const void* data, std::size_t size, std::uint64_t seed);

}  // namespace perf
