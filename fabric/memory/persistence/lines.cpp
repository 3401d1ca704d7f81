// SPDX-License-Identifier: BSD-3-Clause
#include "memory/persistence/lines.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace fabric::memory::persistence {

namespace {

template <typename Number>
bool take(std::string_view& text, Number& out) {
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    return error == std::errc{};
}

bool take(std::string_view& text, char wanted) {
    const bool there = text.starts_with(wanted);
    text.remove_prefix(there ? 1 : 0);
    return there;
}

std::optional<LineRun> take_run(std::string_view& text) {
    LineRun run;
    if (!take(text, run.area) || !take(text, ':') || !take(text, run.first)) {
        return std::nullopt;
    }
    run.last = run.first;
    if (take(text, '-') && !take(text, run.last)) {
        return std::nullopt;
    }
    return run.first <= run.last ? std::optional(run) : std::nullopt;
}

bool before(const LineRun& one, const LineRun& other) {
    return std::tie(one.area, one.last) < std::tie(other.area, other.first);
}

}  // namespace

std::optional<LineSet> parse_lines(std::string_view text) {
    LineSet lines;
    while (!text.empty()) {
        const auto run = take_run(text);
        if (!run || (!lines.empty() && !before(lines.back(), *run))) {
            return std::nullopt;
        }
        lines.push_back(*run);
        if (!text.empty() && (!take(text, ',') || text.empty())) {
            return std::nullopt;
        }
    }
    return lines;
}

std::string text_of(const LineSet& lines) {
    std::string text;
    for (const LineRun& run : lines) {
        text +=
            (text.empty() ? "" : ",") + std::to_string(run.area) + ":" + std::to_string(run.first);
        if (run.last != run.first) {
            text += "-" + std::to_string(run.last);
        }
    }
    return text;
}

bool contains(const LineSet& lines, std::uint32_t area, std::uint64_t line) {
    const LineRun wanted{area, line, line};
    const auto at = std::lower_bound(lines.begin(), lines.end(), wanted, before);
    return at != lines.end() && at->area == area && at->first <= line;
}

}  // namespace fabric::memory::persistence
