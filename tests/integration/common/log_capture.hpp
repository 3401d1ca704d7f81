// SPDX-License-Identifier: BSD-3-Clause
// What librpma logs, kept and shown.
#pragma once

#include <librpma.h>

#include <string>
#include <vector>

namespace it {

// From now on lines up to this level go to logged() and to stderr.
void capture_log(rpma_log_level level = RPMA_LOG_LEVEL_ERROR);
// The texts so far; may be cleared. For programs whose calls come from one thread.
std::vector<std::string>& logged();
// Fails unless exactly one line was logged, which has all these words.
void expect_one_error(const std::vector<std::string>& words);

}  // namespace it
