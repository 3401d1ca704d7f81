// SPDX-License-Identifier: BSD-3-Clause
#include "crash/plan.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace launcher::crash {
namespace {

std::optional<std::size_t> number_of(const std::string& text) {
    std::size_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && rest == end && value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::vector<Point> parse_points(const std::string& text) {
    std::vector<Point> points;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        Point point;
        if (words >> point.number >> point.lines_at_risk) {
            points.push_back(point);
        }
    }
    return points;
}

std::optional<std::vector<Case>> plan(const std::vector<Point>& points, const std::string& wanted,
                                      std::uint64_t seeds) {
    std::size_t count = points.size();
    if (wanted != "all") {
        const auto number = number_of(wanted);
        if (!number) {
            return std::nullopt;
        }
        count = std::min(*number, count);
    }
    std::vector<Case> cases;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t index = count == 1 ? 0 : i * (points.size() - 1) / (count - 1);
        const Point& point = points[index];
        for (std::uint64_t seed = 0; seed < (point.lines_at_risk == 0 ? 1 : seeds); ++seed) {
            cases.push_back({point.number, seed, index + 1 == points.size()});
        }
    }
    return cases;
}

}  // namespace launcher::crash
