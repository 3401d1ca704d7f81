// SPDX-License-Identifier: BSD-3-Clause
// In which process an object was made. What a forked child has inherited is its parent's: threads
// that the child does not have may hold its locks, and its descriptors are shared. Destroying it
// there succeeds and does nothing.
#pragma once

#include "carrier/descriptor.hpp"

namespace fabric::verbs {

class Birth {
public:
    bool inherited() const { return generation_ != carrier::fork_generation(); }

private:
    const unsigned generation_ = carrier::fork_generation();
};

}  // namespace fabric::verbs
