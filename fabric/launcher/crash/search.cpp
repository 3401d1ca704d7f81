// SPDX-License-Identifier: BSD-3-Clause
#include "crash/search.hpp"

#include <exception>
#include <thread>
#include <utility>

#include "crash/process.hpp"

namespace launcher::crash {

Search::Search(const Options& options, const Workload& workload, std::vector<Case> cases)
    : options_(options),
      workload_(workload),
      cases_(std::move(cases)),
      progress_(cases_.size()),
      failed_at_(cases_.size()) {}

Result<std::optional<nlohmann::json>> Search::run(unsigned jobs) {
    std::vector<std::thread> workers;
    for (unsigned i = 1; i < jobs; ++i) {
        workers.emplace_back([this] { work(); });
    }
    work();
    for (std::thread& worker : workers) {
        worker.join();
    }
    progress_.finish();
    if (failure_) {
        return tl::unexpected(*failure_);
    }
    return example_;
}

void Search::work() {
    for (;;) {
        std::size_t index = 0;
        {
            const std::lock_guard guard(mutex_);
            if (next_ >= failed_at_ || failure_ || interrupted()) {
                return;
            }
            index = next_++;
        }
        try {
            try_case(index);
        } catch (const std::exception& error) {  // of the file system
            const std::lock_guard guard(mutex_);
            failure_ = Failure{kExitFailure, error.what()};
        }
        progress_.step();
    }
}

void Search::try_case(std::size_t index) {
    const Scratch scratch(options_.keep);
    const auto outcome = workload_.run(cases_[index], scratch);
    if (interrupted()) {
        return;
    }
    if (outcome) {
        const std::lock_guard guard(mutex_);
        clients_killed_ += outcome->client_killed ? 1U : 0U;
        if (seen_.contains(outcome->content)) {
            return;
        }
    }
    const auto verdict = outcome ? workload_.check(scratch) : Verdict{};
    const std::lock_guard guard(mutex_);
    if (!outcome || !verdict) {
        failure_ = outcome ? verdict.error() : outcome.error();
    } else if (verdict->passed) {
        seen_.insert(outcome->content);
    } else if (index < failed_at_) {
        failed_at_ = index;
        example_ = make_example(options_, cases_[index], *outcome, *verdict);
    }
}

}  // namespace launcher::crash
