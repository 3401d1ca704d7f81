// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <ctime>

namespace perf {

// Nanoseconds since some moment, never set back.
inline std::uint64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

inline double seconds(std::uint64_t ns) {
    return static_cast<double>(ns) * 1e-9;
}

}  // namespace perf
