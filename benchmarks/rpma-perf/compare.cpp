// SPDX-License-Identifier: BSD-3-Clause
#include "compare.hpp"

#include <algorithm>

#include "error.hpp"
#include "results.hpp"
#include "statistics.hpp"
#include "units.hpp"

namespace perf {
namespace {

struct Metric {
    const char* name;
    double (*value)(const Run&);
    bool less_is_better;
    std::string (*format)(double);
};

constexpr Metric kMetrics[] = {
    {"rate, op/s", [](const Run& run) { return run.rate(); }, false, &format_rate},
    {"50 %, us", [](const Run& run) { return run.latency.p50; }, true, &format_latency},
    {"99 %, us", [](const Run& run) { return run.latency.p99; }, true, &format_latency},
};

std::vector<double> values_of(const Result& result, const Metric& metric) {
    std::vector<double> out(result.runs.size());
    std::transform(result.runs.begin(), result.runs.end(), out.begin(), metric.value);
    return out;
}

std::string verdict(const Ratio& ratio, const Metric& metric) {
    if (!ratio.noise_is_known) {
        return "noise unknown: --repeat 2 or more";
    }
    if (!ratio.exceeds_noise()) {
        return "within the noise";
    }
    return (ratio.value < 1) == metric.less_is_better ? "B is better" : "B is worse";
}

std::string line(const Result& a, const Result& b, const Metric& metric) {
    const std::vector<double> left = values_of(a, metric);
    const std::vector<double> right = values_of(b, metric);
    const Ratio ratio = compare_runs(left, right);
    return fmt::format("  {:<12}{:>10}{:>10}{:>9.3f}{:>10}  {}\n", metric.name,
                       metric.format(geometric_mean(left)), metric.format(geometric_mean(right)),
                       ratio.value, ratio.noise(), verdict(ratio, metric));
}

}  // namespace

int run_compare(const std::string& a, const std::string& b) {
    const Results left = read_results(a);
    const Results right = read_results(b);
    std::string out = fmt::format("A: {} ({})\nB: {} ({})\n\n  {:<12}{:>10}{:>10}{:>9}{:>10}\n", a,
                                  left.date, b, right.date, "", "A", "B", "B / A", "noise");
    std::size_t matched = 0;
    for (const Result& one : left.results) {
        const Result* const other = right.find(one.point);
        if (other == nullptr || one.runs.empty() || other->runs.empty()) {
            continue;
        }
        matched++;
        out += describe(one.point) + "\n";
        for (const Metric& metric : kMetrics) {
            out += line(one, *other, metric);
        }
    }
    if (matched == 0) {
        fail("{} and {} have no case in common", a, b);
    }
    const std::size_t alone = left.results.size() + right.results.size() - 2 * matched;
    if (alone > 0) {
        out += fmt::format("\n{} cases are in one file only\n", alone);
    }
    fmt::print("{}", out);
    return 0;
}

}  // namespace perf
