// SPDX-License-Identifier: BSD-3-Clause
#include "native.hpp"

namespace rpma {

const bool kHeadersKnowAtomicWrite = true;
const std::uint64_t kAtomicWriteSendOp = IBV_QP_EX_WITH_ATOMIC_WRITE;

int post_native_atomic_write(ibv_qp* qp, const NativeTarget& target, const void* source) {
    ibv_qp_ex* const extended = ibv_qp_to_qp_ex(qp);
    ibv_wr_start(extended);
    extended->wr_id = target.wr_id;
    extended->wr_flags = target.send_flags;
    ibv_wr_atomic_write(extended, target.rkey, target.address, source);
    return ibv_wr_complete(extended);
}

}  // namespace rpma
