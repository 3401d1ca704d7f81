// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include <algorithm>

#include "error.hpp"

namespace perf {
namespace {

std::uint32_t narrow(std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, ~std::uint32_t{0}));
}

// Replaces each case by one for each value.
template <typename T, typename Set>
void multiply(std::vector<Case>& cases, const std::vector<T>& values, Set set) {
    std::vector<Case> out;
    for (const Case& point : cases) {
        for (const T& value : values) {
            out.push_back(point);
            set(out.back(), value);
        }
    }
    cases = std::move(out);
}

}  // namespace

// The API varies fastest, so that what is compared is measured close together.
std::vector<Case> make_plan(const PlanOptions& options) {
    Case base;
    base.threads = options.threads;
    base.wait = options.wait;
    base.verify = options.verify;
    std::vector<Case> plan{base};
    multiply(plan, options.ops, [](Case& point, Op op) { point.op = op; });
    multiply(plan, options.flushes, [](Case& point, FlushType flush) {
        point.flush = point.flushes() ? flush : FlushType::visibility;
    });
    multiply(plan, options.connections,
             [](Case& point, std::uint64_t value) { point.connections = narrow(value); });
    multiply(plan, options.depths,
             [](Case& point, std::uint64_t value) { point.queue_depth = narrow(value); });
    multiply(plan, options.batches,
             [](Case& point, std::uint64_t value) { point.batch = narrow(value); });
    multiply(plan, options.sizes, [](Case& point, std::uint64_t value) { point.size = value; });
    multiply(plan, options.apis, [](Case& point, Api api) { point.api = api; });
    std::vector<Case> out;
    for (const Case& point : plan) {
        const bool left_out = point.queue_depth != 0 && point.batch > point.queue_depth;
        if (!left_out && std::find(out.begin(), out.end(), point) == out.end()) {
            check(point);
            out.push_back(point);
        }
    }
    if (out.empty()) {
        fail("nothing to measure: every batch is larger than every queue depth");
    }
    return out;
}

}  // namespace perf
