// SPDX-License-Identifier: BSD-3-Clause
// What a crash test is told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "memory/persistence/lines.hpp"

namespace launcher::crash {

struct Options {
    std::string platform = "adr";
    std::string server;  // shell commands; {dir} and {port} are replaced in them
    std::string client;
    std::string check;
    std::string points = "all";
    std::uint64_t seeds = 4;
    unsigned jobs = 0;      // 0: one for each CPU
    unsigned timeout = 60;  // seconds that a command may take
    unsigned grace = 1000;  // milliseconds that the client has after the power failure
    std::string example_file = "crash-test.json";
    std::uint64_t shrink = 40;  // runs that a failing example may take to become smaller
    std::string replay_file;    // instead of all of the above
    bool keep = false;          // the scratch directories
};

// Where the power fails, and which of the possible contents survives.
struct Case {
    std::uint64_t point = 0;
    std::uint64_t seed = 0;
    bool at_end = false;  // when the client is done, whatever number that is
    // Only these lines may lose anything; nothing: all that the seed loses.
    std::optional<fabric::memory::persistence::LineSet> lose = std::nullopt;
};

}  // namespace launcher::crash
