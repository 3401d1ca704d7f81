// SPDX-License-Identifier: BSD-3-Clause
// A set of lines of 64 bytes, as text: "AREA:FIRST-LAST,AREA:LINE,..." with numbers of areas in the
// order of their registration, and of lines in the area.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric::memory::persistence {

struct LineRun {
    std::uint32_t area = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    bool operator==(const LineRun&) const = default;
};

// Ascending and disjoint.
using LineSet = std::vector<LineRun>;

// Nothing if it is no such text; the empty text is the empty set.
std::optional<LineSet> parse_lines(std::string_view text);
std::string text_of(const LineSet& lines);
bool contains(const LineSet& lines, std::uint32_t area, std::uint64_t line);

}  // namespace fabric::memory::persistence
