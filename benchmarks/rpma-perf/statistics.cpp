// SPDX-License-Identifier: BSD-3-Clause
#include "statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace perf {
namespace {

struct LogSample {
    double mean = 0;
    double variance_of_mean = 0;
    double degrees = 0;
};

LogSample log_sample(const std::vector<double>& values) {
    LogSample out;
    const auto count = static_cast<double>(values.size());
    for (const double value : values) {
        out.mean += std::log(value) / count;
    }
    double squares = 0;
    for (const double value : values) {
        squares += std::pow(std::log(value) - out.mean, 2);
    }
    out.degrees = count - 1;
    out.variance_of_mean = values.size() > 1 ? squares / out.degrees / count : 0;
    return out;
}

// Two-sided 95 % quantile of Student's t.
double quantile(double degrees) {
    constexpr std::array<double, 30> kTable{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                            2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                            2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                            2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    const auto whole = static_cast<std::size_t>(std::max(1.0, std::floor(degrees)));
    return whole <= kTable.size() ? kTable[whole - 1] : 1.96 + 2.5 / degrees;
}

// Welch and Satterthwaite.
double combined_degrees(const LogSample& a, const LogSample& b) {
    const double sum = a.variance_of_mean + b.variance_of_mean;
    const double parts = a.variance_of_mean * a.variance_of_mean / a.degrees +
                         b.variance_of_mean * b.variance_of_mean / b.degrees;
    return parts > 0 ? sum * sum / parts : a.degrees + b.degrees;
}

bool all_positive(const std::vector<double>& values) {
    return !values.empty() &&
           std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

}  // namespace

double median(std::vector<double> values) {
    if (values.empty()) {
        return 0;
    }
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double geometric_mean(const std::vector<double>& values) {
    return all_positive(values) ? std::exp(log_sample(values).mean) : 0;
}

std::string Ratio::noise() const {
    constexpr double kMuch = 10;  // what is more is not worth a figure
    if (!noise_is_known) {
        return "?";
    }
    return margin > kMuch ? fmt::format("> {:.0f} %", kMuch * 100)
                          : fmt::format("{:.1f} %", margin * 100);
}

bool Ratio::exceeds_noise() const {
    return noise_is_known && std::max(value, 1 / value) > 1 + margin;
}

Ratio compare_runs(const std::vector<double>& a, const std::vector<double>& b) {
    if (!all_positive(a) || !all_positive(b)) {
        return {};
    }
    const LogSample left = log_sample(a);
    const LogSample right = log_sample(b);
    Ratio ratio;
    ratio.value = std::exp(right.mean - left.mean);
    ratio.noise_is_known = a.size() > 1 && b.size() > 1;
    if (ratio.noise_is_known) {
        const double error = std::sqrt(left.variance_of_mean + right.variance_of_mean);
        ratio.margin = std::expm1(quantile(combined_degrees(left, right)) * error);
    }
    return ratio;
}

}  // namespace perf
