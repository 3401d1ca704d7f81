// SPDX-License-Identifier: BSD-3-Clause
// Protection domains.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>

#include "verbs/birth.hpp"

namespace fabric::verbs {

struct Pd {
    ibv_pd shown{};             // first: what programs hold
    std::atomic<int> users{0};  // regions, queue pairs and shared receive queues in it
    const Birth birth{};        // the process it was made in

    static Pd& of(ibv_pd* pd) { return *reinterpret_cast<Pd*>(pd); }
};

// Holds a protection domain in use.
class PdUse {
public:
    explicit PdUse(ibv_pd* pd) : pd_(Pd::of(pd)) { pd_.users.fetch_add(1); }
    ~PdUse() { pd_.users.fetch_sub(1); }
    PdUse(const PdUse&) = delete;
    PdUse& operator=(const PdUse&) = delete;

private:
    Pd& pd_;
};

}  // namespace fabric::verbs
