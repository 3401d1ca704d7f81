// SPDX-License-Identifier: BSD-3-Clause
// Test data: bytes that depend on a seed and on their place, so that lost, doubled and shifted
// pieces show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace it {

void fill(std::span<std::byte> bytes, std::uint64_t seed);
// Fails with the first wrong place.
void check_filled(std::span<const std::byte> bytes, std::uint64_t seed);
void check_all(std::span<const std::byte> bytes, std::byte value);

}  // namespace it
