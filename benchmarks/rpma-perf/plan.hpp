// SPDX-License-Identifier: BSD-3-Clause
// From lists of values to the cases to measure.
#pragma once

#include <cstdint>
#include <vector>

#include "case.hpp"

namespace perf {

struct PlanOptions {
    std::vector<Api> apis;
    std::vector<Op> ops;
    std::vector<FlushType> flushes;
    std::vector<std::uint64_t> sizes;
    std::vector<std::uint64_t> depths;
    std::vector<std::uint64_t> batches;
    std::vector<std::uint64_t> connections;
    std::uint32_t threads = 1;
    Wait wait = Wait::poll;
    bool verify = false;
};

// Every combination; batches larger than the queue depth are left out. Throws Error if a
// combination is impossible or none is left.
std::vector<Case> make_plan(const PlanOptions& options);

}  // namespace perf
