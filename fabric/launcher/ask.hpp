// SPDX-License-Identifier: BSD-3-Clause
// `rpma-fabric report` and `rpma-fabric power-fail`: questions to a process that keeps account of
// persistent memory.
#pragma once

#include <cstdint>
#include <string>

#include "failure.hpp"

namespace launcher {

// As the fabric exits with when the program itself says that all went well.
inline constexpr int kExitFindings = 123;

// Prints the report of a process, or of a file that a process has written as JSON. 0, or
// kExitFindings.
Result<int> print_report(const std::string& process_or_file, bool json);

// Pulls the plug of a process.
Result<void> fail_power(const std::string& process, std::uint64_t seed);

// Sends one request and returns the answer.
Result<std::string> ask(int process, const std::string& request);

}  // namespace launcher
