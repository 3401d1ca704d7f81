// SPDX-License-Identifier: BSD-3-Clause
// What a driver says and how it ends when it can not do its work.
#pragma once

namespace driver {

inline constexpr int kFailed = 1;
inline constexpr int kUnusable = 2;  // wrong command line, or the driver itself could not work
inline constexpr int kSkipped = 77;

// "driver: text" on stdout, where ctest keeps it in order with what the programs printed.
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));
// The same with errno's text, then exits with kUnusable.
[[noreturn]] void give_up(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace driver
