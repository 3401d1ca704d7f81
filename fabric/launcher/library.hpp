// SPDX-License-Identifier: BSD-3-Clause
// Where the fabric's library is, and what must be loaded before it.
#pragma once

#include <string>

#include "failure.hpp"

namespace launcher {

// RPMA_FABRIC_LIBRARY if set, else the library that belongs to this launcher: beside it in the
// build tree, or in the library directory of the same installation, wherever that was moved to.
// Checked to be loadable; the path is absolute.
Result<std::string> find_library();

// The value of LD_PRELOAD that loads `library`: a sanitizer's runtime first where the library was
// built with one, then the library, then what was asked for already.
std::string preload_list(const std::string& library, const char* existing);

}  // namespace launcher
