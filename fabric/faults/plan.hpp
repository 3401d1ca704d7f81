// SPDX-License-Identifier: BSD-3-Clause
// The faults of this process, from RPMA_FABRIC_FAULTS and RPMA_FABRIC_SEED. Read once, on first
// use.
#pragma once

#include <cstdint>

#include "faults/spec.hpp"

namespace fabric::faults {

struct Plan {
    Spec spec;
    std::uint64_t seed = kDefaultSeed;
};

// nullptr: none were asked for. Thread-safe.
const Plan* plan();

// One more of what `kind` counts in the whole process: the fault that meets it, or nullptr.
// Thread-safe; traced. For Refuse..., Unreachable and Reject.
const Fault* meets(Kind kind);
// The same for objects of the device: 0, or the errno that the program gets instead of one.
int refusal(Kind kind);

}  // namespace fabric::faults
