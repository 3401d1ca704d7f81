// SPDX-License-Identifier: BSD-3-Clause
// Which cases are run: from the points that a first run has passed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crash/options.hpp"

namespace launcher::crash {

struct Point {
    std::uint64_t number = 0;
    std::uint64_t lines_at_risk = 0;
    std::string state = {};  // where it is the same, so is what a seed leaves; empty: unknown
};

// Of points in a row that leave the same only the last: there the client has been told most.
std::vector<Point> different(const std::vector<Point>& points);

// Lines "POINT LINES_AT_RISK ..., state STATE"; others are left out.
std::vector<Point> parse_points(const std::string& text);

// Ascending by point, then by seed. Where nothing is at risk every seed gives the same content, so
// there is one case. `wanted`: "all" or a number, of which the points are spread evenly, and one
// is the last; nothing if it is neither.
std::optional<std::vector<Case>> plan(const std::vector<Point>& points, const std::string& wanted,
                                      std::uint64_t seeds);

}  // namespace launcher::crash
