// SPDX-License-Identifier: BSD-3-Clause
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "error.hpp"

namespace perf {
namespace {

constexpr std::string_view kForm = "a number of bytes, optionally with K, M or G";

// The power of 1024 that a suffix stands for, or -1.
int power_of(std::string_view suffix) {
    constexpr std::string_view kLetters = "KMG";
    if (suffix.empty() || suffix == "B") {
        return 0;
    }
    const std::string_view unit = suffix.substr(1);
    if (!unit.empty() && unit != "iB" && unit != "B") {
        return -1;
    }
    const char letter = suffix[0] == 'k' ? 'K' : suffix[0];
    const std::size_t place = kLetters.find(letter);
    return place == std::string_view::npos ? -1 : static_cast<int>(place) + 1;
}

void append_range(std::vector<std::uint64_t>& out, std::uint64_t low, std::uint64_t high,
                  std::uint64_t factor) {
    for (std::uint64_t value = low; value <= high; value *= factor) {
        out.push_back(value);
        if (value > high / factor) {
            break;
        }
    }
    if (out.back() != high) {
        out.push_back(high);
    }
}

void append_part(std::vector<std::uint64_t>& out, std::string_view part) {
    const std::size_t dash = part.find('-');
    if (dash == std::string_view::npos || dash == 0) {
        out.push_back(parse_size(part));
        return;
    }
    std::string_view upper = part.substr(dash + 1);
    std::uint64_t factor = 2;
    if (const std::size_t colon = upper.find(':'); colon != std::string_view::npos) {
        factor = parse_size(upper.substr(colon + 1));
        upper = upper.substr(0, colon);
    }
    const std::uint64_t low = parse_size(part.substr(0, dash));
    const std::uint64_t high = parse_size(upper);
    if (low == 0 || low > high || factor < 2) {
        fail("'{}' is no range: it is LOW-HIGH or LOW-HIGH:FACTOR, with 0 < LOW <= HIGH", part);
    }
    append_range(out, low, high, factor);
}

}  // namespace

std::uint64_t parse_size(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) {
        fail("'{}' is not {}", text, kForm);
    }
    const int power = power_of(text.substr(static_cast<std::size_t>(end - text.data())));
    if (power < 0) {
        fail("'{}' is not {}", text, kForm);
    }
    const std::uint64_t unit = std::uint64_t{1} << (10 * power);
    if (value > std::numeric_limits<std::uint64_t>::max() / unit) {
        fail("'{}' is too large", text);
    }
    return value * unit;
}

std::vector<std::uint64_t> parse_sizes(std::string_view what, std::string_view text) {
    std::vector<std::uint64_t> out;
    try {
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find(',', begin), text.size());
            append_part(out, text.substr(begin, end - begin));
            begin = end + 1;
        }
    } catch (const Error& error) {
        fail("{}: {}", what, error.what());
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::string format_size(std::uint64_t bytes) {
    constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < std::size(kUnits)) {
        value /= 1024;
        unit++;
    }
    return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::string format_latency(double ns) {
    const double us = ns / 1000;
    return fmt::format("{:.{}f}", us, us < 10 ? 3 : us < 100 ? 2 : us < 1000 ? 1 : 0);
}

std::string format_rate(double per_second) {
    if (per_second >= 1e6) {
        return fmt::format("{:.3g} M", per_second / 1e6);
    }
    return per_second >= 1e4 ? fmt::format("{:.3g} k", per_second / 1e3)
                             : fmt::format("{:.0f}", per_second);
}

std::string format_bandwidth(double bytes_per_second) {
    const double mb = bytes_per_second / 1e6;
    return fmt::format("{:.{}f}", mb, mb < 10 ? 2 : mb < 100 ? 1 : 0);
}

}  // namespace perf
