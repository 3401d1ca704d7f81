// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "batch.hpp"

namespace perf {

// The writes of a batch; `last_signaled` says whether the last of them makes a completion.
template <typename Link>
int post_writes(Link& link, const Batch& batch, bool last_signaled) {
    int failure = 0;
    for (std::size_t i = 0; i < batch.count && failure == 0; i++) {
        failure = link.write(batch.local + i * batch.size, batch.remote + i * batch.size,
                             batch.size, last_signaled && i + 1 == batch.count, batch.id);
    }
    return failure;
}

// Writes. Complete means arrived at the target's adapter, not more.
struct WriteWorkload {
    static constexpr Shape shape{0, false, false, false, Check::read_back};

    template <typename Link>
    static int post(Link& link, const Batch& batch) {
        return post_writes(link, batch, true);
    }
};

}  // namespace perf
