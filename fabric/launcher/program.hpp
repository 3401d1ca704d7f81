// SPDX-License-Identifier: BSD-3-Clause
// Finding the program to start, and saying beforehand if the fabric could not reach into it.
#pragma once

#include <string>

#include "failure.hpp"

namespace launcher {

// `name` as execvp(3) would find it: a path if it contains a slash, else searched in PATH. The
// answer is a path. Refused with a reason: not found (127); a directory, not executable,
// set-user-ID, set-group-ID or with file capabilities (where the loader ignores LD_PRELOAD),
// statically linked, for another machine, or a script whose interpreter is one of these (126).
Result<std::string> find_program(const std::string& name);

}  // namespace launcher
