// SPDX-License-Identifier: BSD-3-Clause
// What stands in for the queue pair of a connection whose receives come from a shared queue: no
// provider takes a receive for such a one, and some answer as if its queue was full. With it
// rpma_recv() has nothing more to test.
#pragma once

#include <infiniband/verbs.h>

namespace rpma {

/// The result of posting to it.
inline constexpr int kReceivesAreShared = -0x5eed;

/// Refuses receives; good for nothing else.
ibv_qp* no_receives();

}  // namespace rpma
