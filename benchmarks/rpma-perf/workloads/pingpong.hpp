// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "send.hpp"

namespace perf {

// Messages that the target's CPU sends back.
struct PingpongWorkload {
    static constexpr Shape shape{0, true, false, true, Check::replies};

    template <typename Link>
    static int post(Link& link, const Batch& batch) {
        int failure = 0;
        for (std::size_t i = 0; i < batch.count && failure == 0; i++) {
            failure = link.recv(batch.reply + i * batch.size, batch.size, batch.id);
        }
        return failure != 0 ? failure : post_sends(link, batch);
    }
};

}  // namespace perf
