// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "../layout.hpp"
#include "write.hpp"

namespace perf {

// An appended record: writes, a flush, the commit word by an atomic write, which takes effect
// behind the flush, and a flush that makes the word as durable as the data.
struct CommitWorkload {
    static constexpr Shape shape{3, false, false, false, Check::read_back};

    template <typename Link>
    static int post(Link& link, const Batch& batch) {
        int failure = post_writes(link, batch, false);
        if (failure == 0) {
            failure =
                link.flush(batch.remote, batch.count * batch.size, batch.flush, false, batch.id);
        }
        if (failure == 0) {
            failure = link.atomic_write(batch.commit, batch.commit_word, false, batch.id);
        }
        return failure != 0 ? failure
                            : link.flush(batch.commit, kCommitSize, batch.flush, true, batch.id);
    }
};

}  // namespace perf
