// SPDX-License-Identifier: BSD-3-Clause
// One run of the user's workload: server, client, power failure, and what is left.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "crash/options.hpp"
#include "crash/process.hpp"
#include "failure.hpp"

namespace launcher::crash {

// A directory that lasts as long as this object, unless it is kept.
class Scratch {
public:
    explicit Scratch(bool keep);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::string path(const std::string& name) const { return directory_ + "/" + name; }
    const std::string& directory() const { return directory_; }

private:
    std::string directory_;
    bool keep_;
};

// NOLINTNEXTLINE(bugprone-exception-escape): moving json throws nothing, which tidy cannot see
struct Outcome {
    nlohmann::json report;       // of the power failure
    std::uint64_t content = 0;   // a number that stands for the files that are left and the output
                                 // of the client
    std::string acknowledged;    // that output
    bool client_killed = false;  // it did not end by itself, and may have kept some of its output
};

struct Verdict {
    bool passed = false;
    std::string output;
};

class Workload {
public:
    Workload(const Options& options, const std::string& library);

    // Runs until the power fails, or until the client is done; then it fails, too.
    Result<Outcome> run(const Case& which, const Scratch& scratch) const;
    // A check that cannot be run says nothing.
    Result<Verdict> check(const Scratch& scratch) const;

    // The text of the points that a run has passed: "POINT LINES_AT_RISK ...".
    static std::string points(const Scratch& scratch);

private:
    Result<void> end_of_work(const Case& which, const Scratch& scratch, Process& server,
                             Process& client) const;
    std::vector<std::pair<std::string, std::string>> environment(const Case& which,
                                                                 const Scratch& scratch,
                                                                 bool server) const;
    Result<Outcome> collect(const Scratch& scratch, bool client_killed) const;

    const Options& options_;
    const std::string library_;
};

}  // namespace launcher::crash
