// SPDX-License-Identifier: BSD-3-Clause
// `--faults` and `--seed`: what is to go wrong in a run.
#pragma once

#include <string>

#include "failure.hpp"

namespace CLI {
class App;
}

namespace launcher {

struct FaultOptions {
    std::string spec;  // empty: nothing goes wrong
    std::string seed;  // empty: the default's
};

void add_options(CLI::App* app, FaultOptions& options);

// Refuses what the fabric would not understand.
Result<void> check(const FaultOptions& options);

}  // namespace launcher
