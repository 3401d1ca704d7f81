// SPDX-License-Identifier: BSD-3-Clause
// Options of the persistence model: what the platform promises, and when its power fails. `--seed`
// is shared with the faults.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "failure.hpp"

namespace launcher {

// As given; empty: not chosen.
struct PersistenceOptions {
    std::string platform;
    std::string power_fail_at;
    std::string report_file;
};

void add_persistence_options(CLI::App* app, PersistenceOptions& options);

// Refuses what the fabric would not understand.
Result<void> check(const PersistenceOptions& options);

// The variables that they set.
std::vector<std::pair<std::string, std::string>> environment_of(const PersistenceOptions& options);

}  // namespace launcher
