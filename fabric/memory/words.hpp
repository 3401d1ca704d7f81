// SPDX-License-Identifier: BSD-3-Clause
// Copies between a private buffer and memory that the program's threads may use at the same time:
// aligned 8-byte words go by one access each, the bytes around them one by one. Every access is
// atomic, in ascending order.
#pragma once

#include <cstddef>

namespace fabric::memory {

void store_words(std::byte* shared, const std::byte* from, std::size_t length);
void load_words(std::byte* to, const std::byte* shared, std::size_t length);

}  // namespace fabric::memory
