// SPDX-License-Identifier: BSD-3-Clause
// A failing example: what is needed to see it again, and what is to be learned from it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "crash/options.hpp"
#include "crash/workload.hpp"
#include "failure.hpp"

namespace launcher::crash {

// `first`: the report of the example that this one was made of, by keeping more; nullptr: none.
nlohmann::json make_example(const Options& options, const Case& which, const Outcome& outcome,
                            const Verdict& verdict, const nlohmann::json* first = nullptr);

// The mistake in a word and a sentence, from what was lost and what was kept.
struct Diagnosis {
    std::string name;
    std::string text;
    bool of_operation = false;  // it is the first lost operation's own reason
};
Diagnosis diagnose(const nlohmann::json& report);
// The smallest example keeps more than the first, which must not change what is said of the order.
Diagnosis diagnose(const nlohmann::json& first, const nlohmann::json& smallest);

std::string describe(const nlohmann::json& example);

struct Replay {
    Options options;
    Case which;
    nlohmann::json example;
};
// The same lines are lost as in an example that was read.
bool same_loss(const nlohmann::json& example, const nlohmann::json& read);
// Options that are not part of the example stay as they are given.
Result<Replay> read_example(const std::string& file, const Options& given);

Result<void> save(const nlohmann::json& example, const std::string& file);

}  // namespace launcher::crash
