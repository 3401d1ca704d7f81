// SPDX-License-Identifier: BSD-3-Clause
// Whether a fault meets the N-th of what it counts. Depends on nothing but the arguments, neither
// on time nor on what other threads do: that is what makes a run with the same seed the same run.
// Pure.
#pragma once

#include <cstdint>

#include "faults/spec.hpp"

namespace fabric::faults {

// Which of the things that are counted alike: a connection of this process (0: the process itself),
// and the place of the fault in the specification.
struct Counter {
    std::uint64_t seed;
    std::uint64_t connection;
    std::uint64_t fault;
};

// `count` is the number of the thing, from 1.
bool chosen(const When& when, const Counter& counter, std::uint64_t count);

}  // namespace fabric::faults
