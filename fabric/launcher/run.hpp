// SPDX-License-Identifier: BSD-3-Clause
// `rpma-fabric run` and the start of `rpma-fabric info`.
#pragma once

#include <string>
#include <vector>

#include "environment.hpp"
#include "failure.hpp"

namespace launcher {

// Replaces this process by `command` on the fabric; returns only if that fails.
Failure run(const FabricOptions& options, const std::vector<std::string>& command);

// Prints what run() would start, as a line for a POSIX shell (to start it under a debugger, say).
Result<void> print_command(const FabricOptions& options, const std::vector<std::string>& command);

}  // namespace launcher
