// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "batch.hpp"

namespace perf {

template <typename Link>
int post_sends(Link& link, const Batch& batch) {
    int failure = 0;
    for (std::size_t i = 0; i < batch.count && failure == 0; i++) {
        failure =
            link.send(batch.local + i * batch.size, batch.size, i + 1 == batch.count, batch.id);
    }
    return failure;
}

// Messages one way. Complete means that the target's adapter has put it into a receive buffer.
struct SendWorkload {
    static constexpr Shape shape{0, false, false, true, Check::by_target};

    template <typename Link>
    static int post(Link& link, const Batch& batch) {
        return post_sends(link, batch);
    }
};

}  // namespace perf
