// SPDX-License-Identifier: BSD-3-Clause
// Requests from outside: a report now, a power failure now. Answered by a thread of its own on a
// socket named after the process.
#pragma once

namespace fabric::memory::persistence {

// The name of the abstract socket of a process, without its leading zero byte.
inline constexpr const char* kControlName = "rpma-fabric.%d";

// `power_fails_after`: milliseconds; -1: it does not.
void start_control(int power_fails_after);

}  // namespace fabric::memory::persistence
