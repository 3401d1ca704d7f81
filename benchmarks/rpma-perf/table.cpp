// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "error.hpp"
#include "statistics.hpp"
#include "units.hpp"
#include "writers.hpp"

namespace perf {
namespace {

std::string percent(double processors) {
    return fmt::format("{:.0f} %", processors * 100);
}

std::string row(const Result& result) {
    const Latency latency = summary_of(result.latency);
    const Case& point = result.point;
    return fmt::format(
        "{:<6}{:<9}{:>9}{:>6}{:>6}{:>6} |{:>9}{:>9}{:>9}{:>9}{:>9}{:>9} |{:>8}{:>8} |"
        "{:>6}{:>6}\n",
        name_of(point.api), name_of(point.op), format_size(point.size), point.queue_depth,
        point.batch, point.connections, format_latency(latency.min), format_latency(latency.p50),
        format_latency(latency.p90), format_latency(latency.p99), format_latency(latency.p999),
        format_latency(latency.max), format_rate(result.rate()),
        format_bandwidth(result.bandwidth()), percent(result.initiator_cpu()),
        percent(result.target_cpu()));
}

std::string header() {
    return fmt::format(
        "{:<6}{:<9}{:>9}{:>6}{:>6}{:>6} |{:^54} |{:>8}{:>8} |{:>12}\n"
        "{:<6}{:<9}{:>9}{:>6}{:>6}{:>6} |{:>9}{:>9}{:>9}{:>9}{:>9}{:>9} |{:>8}{:>8} |"
        "{:>6}{:>6}\n",
        "", "", "", "", "", "", "latency of a batch, us", "", "", "CPU", "API", "op", "size",
        "depth", "batch", "conns", "min", "50 %", "90 %", "99 %", "99.9 %", "max", "op/s", "MB/s",
        "init.", "targ.");
}

std::string describe(const Ratio& ratio) {
    return ratio.value == 0 ? "-" : fmt::format("{:.3f} (noise {})", ratio.value, ratio.noise());
}

template <typename Value>
std::vector<double> values_of(const Result& result, Value value) {
    std::vector<double> out(result.runs.size());
    std::transform(result.runs.begin(), result.runs.end(), out.begin(), value);
    return out;
}

// librpma beside raw verbs, for each case that was measured by both.
std::string overhead(const Results& results) {
    std::string out;
    for (const Result& ours : results.results) {
        Case raw = ours.point;
        raw.api = Api::verbs;
        const Result* const other = results.find(raw);
        if (ours.point.api != Api::rpma || other == nullptr) {
            continue;
        }
        const auto rate = [](const Run& run) { return run.rate(); };
        const auto latency = [](const Run& run) { return run.latency.p50; };
        const Case& point = ours.point;
        out += fmt::format(
            "  {:<9}{:>9}, depth {:>4}: latency {}, rate {}\n", name_of(point.op),
            format_size(point.size), point.queue_depth,
            describe(compare_runs(values_of(*other, latency), values_of(ours, latency))),
            describe(compare_runs(values_of(*other, rate), values_of(ours, rate))));
    }
    return out.empty() ? out
                       : "\nlibrpma over raw verbs (1.000: as fast; median latency, rate):\n" + out;
}

std::string verified(const Results& results) {
    Verified sum;
    for (const Result& result : results.results) {
        for (const Run& run : result.runs) {
            sum.add(run.verified);
        }
    }
    return sum.bytes == 0
               ? std::string()
               : fmt::format("\nverified: {} bytes, {} wrong\n", sum.bytes, sum.mismatches);
}

}  // namespace

std::string as_table(const Results& results) {
    std::string out = header();
    for (const Result& result : results.results) {
        out += row(result);
    }
    out += overhead(results) + verified(results);
    if (!results.complete) {
        out += fmt::format("\nincomplete: {}\n", results.note);
    }
    return out;
}

}  // namespace perf
