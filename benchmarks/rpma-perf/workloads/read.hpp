// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "batch.hpp"

namespace perf {

// Reads the target's memory.
struct ReadWorkload {
    static constexpr Shape shape{0, false, false, false, Check::local_data};

    template <typename Link>
    static int post(Link& link, const Batch& batch) {
        int failure = 0;
        for (std::size_t i = 0; i < batch.count && failure == 0; i++) {
            failure = link.read(batch.local + i * batch.size, batch.remote + i * batch.size,
                                batch.size, i + 1 == batch.count, batch.id);
        }
        return failure;
    }
};

}  // namespace perf
