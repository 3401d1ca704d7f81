// SPDX-License-Identifier: BSD-3-Clause
// Flushing: natively, or by a read behind the writes, which pushes them all out of the other side's
// adapter before it completes.
#include "conn.hpp"
#include "native.hpp"
#include "post.hpp"

using rpma::RemoteArguments;
using rpma::SendRequest;
using rpma::Where;

namespace {

/// The usage bit of a flush type; only for the two known ones.
RPMA_INLINE int usage_of(unsigned type) {
    static_assert(RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT >> RPMA_FLUSH_TYPE_PERSISTENT ==
                  RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT);
    static_assert(RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT >> RPMA_FLUSH_TYPE_VISIBILITY ==
                  RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
    return RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT >> type;
}

RPMA_COLD int flush_natively(const RemoteArguments& a, unsigned type, Where where) {
    const rpma::NativeTarget target = {rpma::wr_id_of(a.op_context), rpma::signaled(a.flags),
                                       a.remote->address + a.offset, a.remote->rkey};
    const int result = rpma::post_native_flush(a.conn->qp, target, a.length,
                                               type == RPMA_FLUSH_TYPE_PERSISTENT);
    return result == 0
               ? 0
               : rpma::post_failure(result, "ibv_wr_flush", target.wr_id, a.length, where);
}

}  // namespace

int rpma_flush(struct rpma_conn* conn, struct rpma_mr_remote* dst, size_t dst_offset, size_t len,
               enum rpma_flush_type type, int flags, const void* op_context) {
    if (RPMA_UNLIKELY(conn == nullptr || dst == nullptr || flags == 0 ||
                      static_cast<unsigned>(type) > RPMA_FLUSH_TYPE_VISIBILITY ||
                      (conn->allowed_flushes.load(std::memory_order_relaxed) & dst->usage &
                       usage_of(type)) == 0 ||
                      !rpma::inside(dst->size, dst_offset, len))) {
        return rpma::check_flush({conn, dst, dst_offset, len, flags, op_context}, type,
                                 Where::here());
    }
    if (RPMA_UNLIKELY(conn->native_flush)) {
        return flush_natively({conn, dst, dst_offset, len, flags, op_context}, type, Where::here());
    }
    // Reads bytes that lie inside the region, as near to dst_offset as possible.
    SendRequest request;
    request.set(IBV_WR_RDMA_READ, rpma::signaled(flags), op_context);
    request.sge = {conn->flush_buffer.address, dst->probe_size, conn->flush_buffer.lkey};
    request.set_remote(dst, dst_offset < dst->last_probe ? dst_offset : dst->last_probe);
    return rpma::post(conn->qp, request, Where::here());
}
