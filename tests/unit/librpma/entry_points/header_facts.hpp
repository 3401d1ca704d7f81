// SPDX-License-Identifier: BSD-3-Clause
// What librpma.h says about each function, read from the header itself.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace entry_points {

struct Function {
    std::string name;
    std::set<std::string> errors;       ///< codes behind @error
    std::set<std::string> never;        ///< of these, the ones said to be never returned
    std::string threads;                ///< what is behind @threads
    std::vector<std::string> pointers;  ///< parameters that must not be NULL
};

std::vector<Function> read_header(const std::string& path);

}  // namespace entry_points
