// SPDX-License-Identifier: BSD-3-Clause
// The report: what is not durable and why, as text for people and as JSON for programs. Allocates
// nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "memory/persistence/finding.hpp"
#include "memory/persistence/model.hpp"
#include "memory/persistence/survival.hpp"
#include "memory/persistence/writer.hpp"

namespace fabric::memory::persistence {

// Things that lose nothing, or that are wrong wherever the data are.
struct Notes {
    struct UselessCall {
        std::uint64_t event = 0;  // the latest counted before it
        std::uint64_t time = 0;   // nanoseconds
        std::uint32_t connection = 0;
        Range range;  // empty: a read, or nothing of it is persistent
    };
    struct Useless {
        static constexpr std::size_t kShown = 16;
        std::uint64_t count = 0;
        std::array<UselessCall, kShown> first{};
        std::span<const UselessCall> shown() const {
            return std::span(first).first(std::min<std::size_t>(count, kShown));
        }
    };
    Useless flushes;             // reads of up to 8 bytes and native flushes with nothing to flush
    Useless persists;            // of ranges in which everything was durable
    std::uint64_t declared = 0;  // direct write, on a platform that has none
    std::uint64_t volatile_bytes = 0;  // written remotely into other memory
    std::array<char, 256> left_out{};  // an area that no account is kept of
};

struct Situation {
    const Model& model;
    const Notes& notes;
    const char* occasion = "";
    std::uint64_t events = 0;
    std::uint64_t flushes = 0;
    std::uint64_t time = 0;  // nanoseconds since the account began
};

// Adjacent bytes that are not durable for the same reason.
struct Finding {
    std::uint32_t area = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    const Operation* first = nullptr;  // nullptr: stored by the CPU
    const Operation* last = nullptr;
    const Reason* reason = nullptr;
};

// Takes pieces in ascending order and prints findings made of them; counts all, prints the first.
class Findings {
public:
    Findings(const Model& model, Writer& out, bool json) : model_(model), out_(out), json_(json) {}
    void add(std::uint32_t area, std::uint64_t begin, std::uint64_t end,
             const Operation* operation);
    void finish();  // prints the last one
    std::uint64_t count() const { return count_; }
    std::uint64_t bytes() const { return bytes_; }
    static constexpr std::uint64_t kShown = 100;

private:
    void show();

    const Model& model_;
    Writer& out_;
    const bool json_;
    Finding current_;
    std::uint64_t count_ = 0;
    std::uint64_t bytes_ = 0;
};

struct Totals {
    std::uint64_t operations = 0;  // findings of remote operations
    std::uint64_t bytes = 0;
    std::uint64_t stores = 0;
    std::uint64_t declared = 0;
    bool clean() const { return operations == 0 && declared == 0; }
};

// What a report is written to before it gets its name, so that nobody reads half of one. A device
// or a pipe must not be replaced: it is written to itself.
std::string unfinished_name(const std::string& file);

// Prints all of it.
Totals report(const Situation& now, Writer& out, bool json);
// Counts only.
Totals count(const Situation& now);

// A power failure: prints, and while it does, writes what survives into the memory.
struct PowerFailure {
    std::uint64_t seed = 0;
    const LineSet* lose = nullptr;  // nullptr: all that the seed loses
};
void report_power_failure(const Situation& now, const PowerFailure& how, Writer& out, bool json);

}  // namespace fabric::memory::persistence
