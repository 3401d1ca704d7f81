// SPDX-License-Identifier: BSD-3-Clause
#include "common/check.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace it {

void fail_at(const char* file, int line, const char* format, ...) {
    const int saved_errno = errno;
    const char* slash = std::strrchr(file, '/');
    std::fprintf(stderr, "FAILED %s:%d: ", slash == nullptr ? file : slash + 1, line);
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    std::fprintf(stderr, " (errno %d: %s)\n", saved_errno, std::strerror(saved_errno));
    std::fflush(nullptr);
    _exit(1);
}

void skip(const char* format, ...) {
    std::fputs("SKIPPED: ", stderr);
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    std::fputc('\n', stderr);
    std::fflush(nullptr);
    _exit(kSkipped);
}

void check_equal(const char* file, int line, const char* what, long long actual,
                 long long expected) {
    if (actual != expected) {
        fail_at(file, line, "%s is %lld, expected %lld", what, actual, expected);
    }
}

}  // namespace it
