// SPDX-License-Identifier: BSD-3-Clause
// `rpma-fabric crash-test`: cuts the power at many points of a workload and lets the user's program
// check what is left.
#pragma once

#include "crash/options.hpp"
#include "failure.hpp"

namespace launcher::crash {

inline constexpr int kExitMistake = 1;

// 0: every case passes; kExitMistake: one failed, and is described.
Result<int> crash_test(const Options& options);

}  // namespace launcher::crash
