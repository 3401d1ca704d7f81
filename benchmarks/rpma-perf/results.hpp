// SPDX-License-Identifier: BSD-3-Clause
// What was measured, and its file: JSON, described in rpma-perf(1).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "case.hpp"
#include "control.hpp"
#include "histogram.hpp"
#include "slots.hpp"

namespace perf {

// Nanoseconds, of a batch from posting to completion.
struct Latency {
    double min = 0;
    double mean = 0;
    double p50 = 0;
    double p90 = 0;
    double p99 = 0;
    double p999 = 0;
    double max = 0;
};
Latency summary_of(const Histogram& histogram);

// One measurement of a case.
struct Run {
    std::uint64_t operations = 0;
    double seconds = 0;
    Latency latency;
    double cpu_seconds = 0;  // of wall clock, which the CPU times belong to
    CpuTime initiator_cpu;
    CpuTime target_cpu;
    Verified verified;
    bool complete = true;  // false: it was interrupted
    [[nodiscard]] double rate() const {
        return seconds > 0 ? static_cast<double>(operations) / seconds : 0;
    }
};

// All measurements of a case.
struct Result {
    Case point;
    std::vector<Run> runs;
    Histogram latency;  // of all runs together

    // Of the runs, the median.
    [[nodiscard]] double rate() const;
    [[nodiscard]] double bandwidth() const {  // bytes per second
        return rate() * static_cast<double>(point.size);
    }
    [[nodiscard]] double initiator_cpu() const;  // processors in use
    [[nodiscard]] double target_cpu() const;
};

// NOLINTNEXTLINE(bugprone-exception-escape): moving json throws nothing, which tidy cannot see
struct Results {
    std::string date;  // ISO 8601, UTC
    std::string command;
    bool complete = true;
    std::string note;  // why it is not complete
    nlohmann::json initiator;
    nlohmann::json target;
    std::vector<Result> results;

    Result& of(const Case& point);  // found or added
    [[nodiscard]] const Result* find(const Case& point) const;
};

void to_json(nlohmann::json& out, const Results& results);
void from_json(const nlohmann::json& in, Results& results);

// Throws Error that names the file.
Results read_results(const std::string& path);

}  // namespace perf
