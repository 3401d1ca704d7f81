// SPDX-License-Identifier: BSD-3-Clause
// rpma-perf compare: two files of results, and which differences are more than noise.
#pragma once

#include <string>

namespace perf {

// Prints the comparison. Throws Error if nothing can be compared.
int run_compare(const std::string& a, const std::string& b);

}  // namespace perf
