// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "../layout.hpp"
#include "write.hpp"

namespace perf {

// Writes, then a message that asks the target's CPU to make them durable, and its answer.
struct PersistWorkload {
    static constexpr Shape shape{1, false, true, false, Check::read_back};

    template <typename Link>
    static int post(Link& link, const Batch& batch) {
        int failure = link.recv(batch.reply, kPersistMessage, batch.id);
        if (failure == 0) {
            failure = post_writes(link, batch, false);
        }
        return failure != 0 ? failure : link.send(batch.request, kPersistMessage, true, batch.id);
    }
};

}  // namespace perf
