// SPDX-License-Identifier: BSD-3-Clause
#include "results.hpp"

#include <algorithm>
#include <fstream>

#include "error.hpp"
#include "perf_config.hpp"
#include "statistics.hpp"

namespace perf {
namespace {

constexpr const char* kFormat = "rpma-perf results";
constexpr int kFormatVersion = 1;

// value(run) of all runs, reduced to the median.
template <typename Value>
double median_of(const std::vector<Run>& runs, Value value) {
    std::vector<double> values(runs.size());
    std::transform(runs.begin(), runs.end(), values.begin(), value);
    return median(std::move(values));
}

}  // namespace

Latency summary_of(const Histogram& histogram) {
    const auto at = [&](double percent) {
        return static_cast<double>(histogram.percentile(percent));
    };
    return {
        static_cast<double>(histogram.min()), histogram.mean(), at(50), at(90), at(99), at(99.9),
        static_cast<double>(histogram.max())};
}

double Result::rate() const {
    return median_of(runs, [](const Run& run) { return run.rate(); });
}

double Result::initiator_cpu() const {
    return median_of(runs, [](const Run& run) {
        return run.cpu_seconds > 0 ? run.initiator_cpu.total() / run.cpu_seconds : 0;
    });
}

double Result::target_cpu() const {
    return median_of(runs, [](const Run& run) {
        return run.cpu_seconds > 0 ? run.target_cpu.total() / run.cpu_seconds : 0;
    });
}

Result& Results::of(const Case& point) {
    const auto found = std::find_if(results.begin(), results.end(),
                                    [&](const Result& one) { return one.point == point; });
    return found != results.end() ? *found : results.emplace_back(Result{point, {}, {}});
}

const Result* Results::find(const Case& point) const {
    const auto found = std::find_if(results.begin(), results.end(),
                                    [&](const Result& one) { return one.point == point; });
    return found != results.end() ? &*found : nullptr;
}

static void to_json(nlohmann::json& out, const Latency& latency) {
    out = {{"min", latency.min}, {"mean", latency.mean}, {"p50", latency.p50},
           {"p90", latency.p90}, {"p99", latency.p99},   {"p99.9", latency.p999},
           {"max", latency.max}};
}

static void from_json(const nlohmann::json& in, Latency& latency) {
    latency = {in.at("min"), in.at("mean"),  in.at("p50"), in.at("p90"),
               in.at("p99"), in.at("p99.9"), in.at("max")};
}

static void to_json(nlohmann::json& out, const Run& run) {
    out = {{"operations", run.operations},
           {"seconds", run.seconds},
           {"operations_per_s", run.rate()},
           {"latency_ns", run.latency},
           {"cpu",
            {{"seconds", run.cpu_seconds},
             {"initiator", run.initiator_cpu},
             {"target", run.target_cpu}}},
           {"verified_bytes", run.verified.bytes},
           {"mismatches", run.verified.mismatches},
           {"complete", run.complete}};
}

static void from_json(const nlohmann::json& in, Run& run) {
    run.operations = in.at("operations");
    run.seconds = in.at("seconds");
    run.latency = in.at("latency_ns").get<Latency>();
    const nlohmann::json& cpu = in.at("cpu");
    run.cpu_seconds = cpu.at("seconds");
    run.initiator_cpu = cpu.at("initiator").get<CpuTime>();
    run.target_cpu = cpu.at("target").get<CpuTime>();
    run.verified.bytes = in.at("verified_bytes");
    run.verified.mismatches = in.at("mismatches");
    run.complete = in.at("complete");
}

static void to_json(nlohmann::json& out, const Result& result) {
    out = {{"case", result.point},
           {"operations_per_s", result.rate()},
           {"bytes_per_s", result.bandwidth()},
           {"latency_ns", summary_of(result.latency)},
           {"cpu_initiator", result.initiator_cpu()},
           {"cpu_target", result.target_cpu()},
           {"runs", result.runs}};
    nlohmann::json& histogram = out["histogram_ns"] = nlohmann::json::array();
    for (const Histogram::Bucket& bucket : result.latency.buckets()) {
        histogram.push_back({bucket.value, bucket.count});
    }
}

static void from_json(const nlohmann::json& in, Result& result) {
    result.point = in.at("case").get<Case>();
    result.runs = in.at("runs").get<std::vector<Run>>();
    for (const auto& [value, count] :
         in.at("histogram_ns").get<std::vector<std::pair<std::uint64_t, std::uint64_t>>>()) {
        result.latency.record(value, count);
    }
}

void to_json(nlohmann::json& out, const Results& results) {
    out = {{"format", kFormat},
           {"format_version", kFormatVersion},
           {"rpma_perf", config::kVersion},
           {"date", results.date},
           {"command", results.command},
           {"complete", results.complete},
           {"note", results.note},
           {"initiator", results.initiator},
           {"target", results.target},
           {"results", results.results}};
}

void from_json(const nlohmann::json& in, Results& results) {
    if (in.at("format") != kFormat || in.at("format_version") != kFormatVersion) {
        fail("not results of this version of rpma-perf");
    }
    results.date = in.at("date");
    results.command = in.at("command");
    results.complete = in.at("complete");
    results.note = in.at("note");
    results.initiator = in.at("initiator");
    results.target = in.at("target");
    results.results = in.at("results").get<std::vector<Result>>();
}

Results read_results(const std::string& path) {
    std::ifstream in(path);
    if (!in) {
        fail("{}: {}", path, errno_text());
    }
    try {
        return nlohmann::json::parse(in).get<Results>();
    } catch (const std::exception& error) {
        fail("{}: no results of rpma-perf run --json: {}", path, error.what());
    }
}

}  // namespace perf
