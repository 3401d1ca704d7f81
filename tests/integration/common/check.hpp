// SPDX-License-Identifier: BSD-3-Clause
// How a role of a scenario says that something is wrong: one line on stderr with the place and the
// values, then it ends at once. Nothing is unwound: what the other role then sees is a peer that
// died, and the driver reports the first failure.
#pragma once

namespace it {

inline constexpr int kSkipped =
    77;  // exit code that ctest and the driver take as "this machine lacks a capability"

// Prints "FILE:LINE: text" and ends the process with exit code 1.
[[noreturn]] void fail_at(const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

// Prints the reason and ends the process with kSkipped.
[[noreturn]] void skip(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Fails unless both numbers are equal; `what` is the text of the expression.
void check_equal(const char* file, int line, const char* what, long long actual,
                 long long expected);

}  // namespace it

#define CHECK(condition)                \
    ((condition) ? static_cast<void>(0) \
                 : it::fail_at(__FILE__, __LINE__, "this does not hold: %s", #condition))

#define CHECK_EQ(actual, expected)                                               \
    it::check_equal(__FILE__, __LINE__, #actual, static_cast<long long>(actual), \
                    static_cast<long long>(expected))

#define FAIL(...) it::fail_at(__FILE__, __LINE__, __VA_ARGS__)
