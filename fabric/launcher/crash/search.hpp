// SPDX-License-Identifier: BSD-3-Clause
// Runs cases, several at a time, and finds the first that fails.
#pragma once

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "crash/example.hpp"
#include "crash/options.hpp"
#include "crash/progress.hpp"
#include "crash/workload.hpp"

namespace launcher::crash {

class Search {
public:
    Search(const Options& options, const Workload& workload, std::vector<Case> cases);

    // The example of the smallest case that fails, or nothing if all pass. Cases behind one that
    // failed are not started any more; those before it are finished.
    Result<std::optional<nlohmann::json>> run(unsigned jobs);

    // The case that the example is of.
    const Case& failed() const { return cases_[failed_at_]; }
    std::size_t checked() const { return seen_.size(); }  // different contents
    std::size_t clients_killed() const { return clients_killed_; }

private:
    void work();
    void try_case(std::size_t index);

    const Options& options_;
    const Workload& workload_;
    const std::vector<Case> cases_;
    Progress progress_;
    std::mutex mutex_;  // of everything below
    std::size_t next_ = 0;
    std::size_t failed_at_;  // behind the last case: none
    std::optional<nlohmann::json> example_;
    std::optional<Failure> failure_;
    std::set<std::uint64_t> seen_;  // contents that have passed
    std::size_t clients_killed_ = 0;
};

}  // namespace launcher::crash
