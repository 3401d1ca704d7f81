// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "write.hpp"

namespace perf {

// Writes and one flush behind them.
struct FlushWorkload {
    static constexpr Shape shape{1, false, false, false, Check::read_back};

    template <typename Link>
    static int post(Link& link, const Batch& batch) {
        const int failure = post_writes(link, batch, false);
        return failure != 0 ? failure
                            : link.flush(batch.remote, batch.count * batch.size, batch.flush, true,
                                         batch.id);
    }
};

}  // namespace perf
