// SPDX-License-Identifier: BSD-3-Clause
// Failures of set-up and of talking to the other side: one line that says what failed and what to
// do. Loops that measure use return values instead.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace perf {

struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
    throw Error(fmt::format(format, std::forward<Args>(args)...));
}

inline std::string errno_text(int error = errno) {
    return std::strerror(error);  // NOLINT(concurrency-mt-unsafe): glibc's is safe for known values
}

}  // namespace perf
