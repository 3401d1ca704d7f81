// SPDX-License-Identifier: BSD-3-Clause
// Pages of the system.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace fabric::memory {

inline std::uintptr_t page_size() {
    static const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

struct PageRange {
    void* begin = nullptr;
    std::size_t length = 0;
};

// The whole pages that hold [base, base + length).
inline PageRange pages_of(const void* base, std::uint64_t length) {
    const std::uintptr_t before = reinterpret_cast<std::uintptr_t>(base) & (page_size() - 1);
    auto* const begin = const_cast<char*>(static_cast<const char*>(base)) - before;
    return {begin, before + length};
}

}  // namespace fabric::memory
