// SPDX-License-Identifier: BSD-3-Clause
// Whether two sets of runs differ by more than they scatter.
#pragma once

#include <string>
#include <vector>

namespace perf {

double median(std::vector<double> values);  // 0 if there are none

double geometric_mean(
    const std::vector<double>& values);  // 0 if one is not above 0, or there are none

// B over A, with the noise: Welch's t-test on the logarithms of the runs, at 95 %.
struct Ratio {
    double value = 0;   // of the geometric means; 0 if it cannot be told
    double margin = 0;  // the true ratio is between value / (1 + margin) and value * (1 + margin)
    bool noise_is_known = false;  // both sides have at least two runs

    [[nodiscard]] bool exceeds_noise() const;
    [[nodiscard]] std::string noise() const;  // "1.2 %", "?"
};
Ratio compare_runs(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace perf
