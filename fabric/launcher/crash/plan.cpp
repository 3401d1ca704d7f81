// SPDX-License-Identifier: BSD-3-Clause
#include "crash/plan.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

namespace launcher::crash {
namespace {

std::optional<std::size_t> number_of(const std::string& text) {
    std::size_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && rest == end && value > 0 ? std::optional(value) : std::nullopt;
}

// At the end of the line; what is in front of it may be a name of a file.
std::string state_of(const std::string& line) {
    constexpr std::string_view kName = ", state ";
    const std::size_t at = line.rfind(kName);
    const std::string state = at == std::string::npos ? "" : line.substr(at + kName.size());
    return state.find_first_not_of("0123456789abcdef") == std::string::npos ? state : "";
}

}  // namespace

std::vector<Point> different(const std::vector<Point>& points) {
    std::vector<Point> out;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const bool repeated = i + 1 < points.size() && !points[i].state.empty() &&
                              points[i].state == points[i + 1].state;
        if (!repeated) {
            out.push_back(points[i]);
        }
    }
    return out;
}

std::vector<Point> parse_points(const std::string& text) {
    std::vector<Point> points;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        Point point;
        if (words >> point.number >> point.lines_at_risk) {
            point.state = state_of(line);
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
        const std::size_t index =
            count == 1 ? points.size() - 1 : i * (points.size() - 1) / (count - 1);
        const Point& point = points[index];
        for (std::uint64_t seed = 0; seed < (point.lines_at_risk == 0 ? 1 : seeds); ++seed) {
            cases.push_back({point.number, seed, index + 1 == points.size()});
        }
    }
    return cases;
}

}  // namespace launcher::crash
