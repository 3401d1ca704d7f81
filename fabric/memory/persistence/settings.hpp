// SPDX-License-Identifier: BSD-3-Clause
// What a user sets of the persistence model. Read once from the environment, on first use.
//
//   RPMA_FABRIC_PLATFORM    the platform; without it there is no account and no cost
//   RPMA_FABRIC_POWER_FAIL  when the power fails: "N" (events), "2s", "150ms", "after flush K"
//   RPMA_FABRIC_SEED        which of the possible contents survives; default 0
//   RPMA_FABRIC_LOSE        lines that may be lost; all others keep everything (a crash test's
//                           smallest example)
//   RPMA_FABRIC_REPORT      file of the report; JSON if its name ends in .json
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "memory/persistence/lines.hpp"
#include "memory/persistence/platform.hpp"

namespace fabric::memory::persistence {

struct PowerFail {
    enum class When : std::uint8_t { Never, Event, Time, Flush };
    When when = When::Never;
    std::uint64_t value = 0;  // events, milliseconds, flushes
};

struct Settings {
    std::optional<Platform> platform;
    PowerFail power_fail;
    std::uint64_t seed = 0;
    std::optional<LineSet> lose;  // nothing: all that are at risk
    std::string report;           // empty: only a summary on stderr
    std::string complaint;        // what is wrong with a variable; empty: nothing
};

// Nothing if the text is none of the forms above.
std::optional<PowerFail> parse_power_fail(std::string_view text);
std::optional<std::uint64_t> parse_number(std::string_view text);

// nullptr: not set.
Settings parse_settings(const char* platform, const char* power_fail, const char* seed,
                        const char* report, const char* lose = nullptr);

// From the environment. Thread-safe.
const Settings& settings();

}  // namespace fabric::memory::persistence
