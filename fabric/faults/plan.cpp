// SPDX-License-Identifier: BSD-3-Clause
#include "faults/plan.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "faults/choice.hpp"
#include "log.hpp"
#include "trace.hpp"

namespace fabric::faults {
namespace {

const Plan* read_plan() {
    const char* const text = std::getenv("RPMA_FABRIC_FAULTS");
    if (text == nullptr || *text == '\0')
        return nullptr;
    Plan made;
    made.spec = parse_spec(text);
    if (!made.spec.complaint.empty()) {
        log(LogLevel::Warning, "RPMA_FABRIC_FAULTS: %s; there are no faults",
            made.spec.complaint.c_str());
        return nullptr;
    }
    if (const char* const seed = std::getenv("RPMA_FABRIC_SEED"); seed != nullptr) {
        const auto number = parse_seed(seed);
        if (!number)
            log(LogLevel::Warning, "RPMA_FABRIC_SEED: must be a number; %llu is used",
                static_cast<unsigned long long>(kDefaultSeed));
        made.seed = number.value_or(kDefaultSeed);
    }
    return new Plan(std::move(made));
}

std::atomic<std::uint64_t>& counter_of(Kind kind) {
    static std::array<std::atomic<std::uint64_t>, kKinds> counters{};
    return counters[static_cast<std::size_t>(kind)];
}

}  // namespace

const Plan* plan() {
    static const Plan* const instance = read_plan();  // never destroyed, as threads may outlive it
    return instance;
}

const Fault* meets(Kind kind) {
    const Plan* const all = plan();
    if (all == nullptr)
        return nullptr;
    const std::uint64_t count = counter_of(kind).fetch_add(1, std::memory_order_relaxed) + 1;
    for (std::size_t i = 0; i < all->spec.faults.size(); ++i) {
        const Fault& fault = all->spec.faults[i];
        if (fault.kind != kind || !chosen(fault.when, {all->seed, 0, i}, count))
            continue;
        if (trace::event_enabled(LogLevel::Info))
            trace::event(LogLevel::Info, 0, "fault %s number=%llu", name_of(kind),
                         static_cast<unsigned long long>(count));
        return &fault;
    }
    return nullptr;
}

int refusal(Kind kind) {
    const Fault* const fault = meets(kind);
    return fault == nullptr ? 0 : fault->error;
}

}  // namespace fabric::faults
