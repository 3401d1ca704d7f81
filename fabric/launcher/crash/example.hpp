// SPDX-License-Identifier: BSD-3-Clause
// A failing example: what is needed to see it again, and what is to be learned from it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "crash/options.hpp"
#include "crash/workload.hpp"
#include "failure.hpp"

namespace launcher::crash {

nlohmann::json make_example(const Options& options, const Case& which, const Outcome& outcome,
                            const Verdict& verdict);

// The mistake in a word and a sentence, from what was lost and what was kept.
struct Diagnosis {
    std::string name;
    std::string text;
};
Diagnosis diagnose(const nlohmann::json& report);

std::string describe(const nlohmann::json& example);

struct Replay {
    Options options;
    Case which;
};
// Options that are not part of the example stay as they are given.
Result<Replay> read_example(const std::string& file, const Options& given);

Result<void> save(const nlohmann::json& example, const std::string& file);

}  // namespace launcher::crash
