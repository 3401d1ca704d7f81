// SPDX-License-Identifier: BSD-3-Clause
#include "memory/persistence/settings.hpp"

#include <charconv>
#include <cstdlib>

namespace fabric::memory::persistence {

namespace {

constexpr std::string_view kAfterFlush = "after flush ";
constexpr std::uint64_t kMilliseconds = 1000;

std::optional<PowerFail> timed(std::string_view number, std::uint64_t unit) {
    const auto value = parse_number(number);
    if (!value || *value > UINT32_MAX) {
        return std::nullopt;
    }
    return PowerFail{PowerFail::When::Time, *value * unit};
}

std::optional<PowerFail> counted(std::string_view number, PowerFail::When when) {
    const auto value = parse_number(number);
    if (!value) {
        return std::nullopt;
    }
    return PowerFail{when, *value};
}

const char* given(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr || *value == '\0' ? nullptr : value;
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || rest != end) {
        return std::nullopt;
    }
    return value;
}

std::optional<PowerFail> parse_power_fail(std::string_view text) {
    if (text.starts_with(kAfterFlush)) {
        const auto flush = counted(text.substr(kAfterFlush.size()), PowerFail::When::Flush);
        return flush && flush->value > 0 ? flush : std::nullopt;
    }
    if (text.ends_with("ms")) {
        return timed(text.substr(0, text.size() - 2), 1);
    }
    if (text.ends_with("s")) {
        return timed(text.substr(0, text.size() - 1), kMilliseconds);
    }
    return counted(text, PowerFail::When::Event);
}

Settings parse_settings(const char* platform, const char* power_fail, const char* seed,
                        const char* report, const char* lose) {
    Settings out;
    const auto known = parse_platform(platform == nullptr ? "adr" : platform);
    const auto when = parse_power_fail(power_fail == nullptr ? "0" : power_fail);
    const auto number = parse_number(seed == nullptr ? "0" : seed);
    const auto lines = parse_lines(lose == nullptr ? "" : lose);
    if (!known) {
        out.complaint =
            "RPMA_FABRIC_PLATFORM: must be adr, eadr or wsp, and behind it, separated by commas, "
            "ddio=on|off, native-flush=on|off, memory=SIZE";
    } else if (!when) {
        out.complaint =
            "RPMA_FABRIC_POWER_FAIL: must be a number of events, a time such as 2s or 150ms, or "
            "'after flush K'";
    } else if (!number) {
        out.complaint = "RPMA_FABRIC_SEED: must be a number";
    } else if (!lines) {
        out.complaint =
            "RPMA_FABRIC_LOSE: must be lines in ascending order, as AREA:FIRST-LAST or AREA:LINE, "
            "separated by commas";
    } else if (platform == nullptr && (power_fail != nullptr || report != nullptr)) {
        out.complaint =
            "a power failure or a report needs a platform (--platform, RPMA_FABRIC_PLATFORM)";
    } else if (platform != nullptr) {
        out.platform = known;
        out.power_fail = power_fail == nullptr ? PowerFail{} : *when;
        out.seed = *number;
        out.lose = lose == nullptr ? std::nullopt : lines;
        out.report = report == nullptr ? "" : report;
    }
    return out;
}

// Never destroyed: threads may still ask for it while the process ends.
const Settings& settings() {
    static const Settings* const instance = new Settings(parse_settings(
        given("RPMA_FABRIC_PLATFORM"), given("RPMA_FABRIC_POWER_FAIL"), given("RPMA_FABRIC_SEED"),
        given("RPMA_FABRIC_REPORT"), std::getenv("RPMA_FABRIC_LOSE")));
    return *instance;
}

}  // namespace fabric::memory::persistence
