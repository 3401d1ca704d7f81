// SPDX-License-Identifier: BSD-3-Clause
// The fabric's own log: whole lines, to stderr or to the file named in RPMA_FABRIC_LOG. A message
// says what happened and what the user can do about it. Where all goes well, only info and debug
// have something to say.
#pragma once

#include "config.hpp"

namespace fabric {

// True if a message of this level would be written; for messages that cost something to make.
bool log_enabled(LogLevel level);

// Thread-safe; errno is left as it was.
[[gnu::format(printf, 2, 3)]] void log(LogLevel level, const char* format, ...);

}  // namespace fabric
