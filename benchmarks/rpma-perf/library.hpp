// SPDX-License-Identifier: BSD-3-Clause
// --library: measuring another librpma.so.0 than the one that rpma-perf was linked with. The
// dynamic loader takes what is preloaded before what is linked, so the program starts itself again.
#pragma once

#include <string>

namespace perf {

// Returns if the library is in use already; otherwise does not return. Throws Error if it cannot be
// used.
void use_library(const std::string& path, char** argv);

}  // namespace perf
