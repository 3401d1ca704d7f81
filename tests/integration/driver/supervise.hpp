// SPDX-License-Identifier: BSD-3-Clause
// Waits for a set of started programs, all of it bounded in time.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "driver/process.hpp"

namespace driver {

using Clock = std::chrono::steady_clock;

// Reads the programs' output until `done` says so or the end has come. True: `done` said so.
bool watch(std::vector<Process>& programs, Clock::time_point end,
           const std::function<bool()>& done);

// Until all have ended. When one ended in a way that is `wrong`, the others get ten more seconds.
// Whatever still runs after that is shown and killed. True: all ended by themselves and in time.
bool watch_all(std::vector<Process>& programs, Clock::time_point end,
               const std::function<bool(const Process&)>& wrong);

// False, and said: something of a program's process group outlived it.
bool nothing_left_running(std::vector<Process>& programs);

}  // namespace driver
