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
    std::string seed;  // empty: the default's; also decides what survives a power failure
};

void add_options(CLI::App* app, FaultOptions& options);

// Refuses what the fabric would not understand. `seed_has_use`: something else is decided by it.
Result<void> check(const FaultOptions& options, bool seed_has_use);

}  // namespace launcher
