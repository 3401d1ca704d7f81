// SPDX-License-Identifier: BSD-3-Clause
#include "driver/report.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace driver {
namespace {

[[gnu::format(printf, 1, 0)]] void print(const char* format, va_list arguments) {
    std::fputs("driver: ", stdout);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): started by the callers
    std::vprintf(format, arguments);
}

}  // namespace

void say(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    std::fputc('\n', stdout);
    std::fflush(stdout);
}

void give_up(const char* format, ...) {
    const int saved_errno = errno;
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    std::printf(": %s\n", std::strerror(saved_errno));
    std::fflush(stdout);
    std::exit(kUnusable);  // NOLINT(concurrency-mt-unsafe): drivers have one thread
}

}  // namespace driver
