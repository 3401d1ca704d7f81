// SPDX-License-Identifier: BSD-3-Clause
// What librpma logs, kept and shown.
#pragma once

#include <string>
#include <vector>

namespace it {

// From now on errors go to errors_logged() and to stderr.
void capture_log();
const std::vector<std::string>& errors_logged();
// Fails unless exactly one error was logged, which has all these words.
void expect_one_error(const std::vector<std::string>& words);

}  // namespace it
