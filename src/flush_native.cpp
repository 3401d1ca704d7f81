// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "native.hpp"

namespace rpma {

const bool kHeadersKnowFlush = true;
const std::uint64_t kFlushSendOps = IBV_QP_EX_WITH_FLUSH;
const int kAccessFlushVisibility = IBV_ACCESS_FLUSH_GLOBAL;
const int kAccessFlushPersistent = IBV_ACCESS_FLUSH_PERSISTENT;

int post_native_flush(ibv_qp* qp, const NativeTarget& target, std::size_t length, bool persistent) {
    // The packet has 32 bits for the length; a longer range is covered by flushing the region.
    const bool fits = length <= std::numeric_limits<std::uint32_t>::max();
    ibv_qp_ex* const extended = ibv_qp_to_qp_ex(qp);
    ibv_wr_start(extended);
    extended->wr_id = target.wr_id;
    extended->wr_flags = target.send_flags;
    ibv_wr_flush(extended, target.rkey, target.address, fits ? length : 0,
                 persistent ? IBV_FLUSH_PERSISTENT : IBV_FLUSH_GLOBAL,
                 fits ? IBV_FLUSH_RANGE : IBV_FLUSH_MR);
    return ibv_wr_complete(extended);
}

}  // namespace rpma
