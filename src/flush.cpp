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

RPMA_INLINE bool is_plain(const RemoteArguments& a, unsigned type) {
    return a.conn != nullptr && a.remote != nullptr && a.flags != 0 &&
           type <= RPMA_FLUSH_TYPE_VISIBILITY &&
           (a.conn->allowed_flushes.load(std::memory_order_relaxed) & a.remote->usage &
            usage_of(type)) != 0 &&
           rpma::inside(a.remote->size, a.offset, a.length);
}

/// Reads probe_size bytes that lie inside the region, as near to offset as possible.
RPMA_INLINE int flush_by_read(const RemoteArguments& a, const Where& where) {
    SendRequest request;
    request.set(IBV_WR_RDMA_READ, rpma::signaled(a.flags), a.op_context);
    request.sge = {a.conn->flush_buffer.address, a.remote->probe_size, a.conn->flush_buffer.lkey};
    const std::uint64_t last = a.remote->last_probe;
    request.set_remote(a.remote, a.offset < last ? a.offset : last);
    return rpma::post(a.conn->qp, request, where);
}

RPMA_COLD int flush_natively(const RemoteArguments& a, unsigned type, const Where& where) {
    const rpma::NativeTarget target = {rpma::wr_id_of(a.op_context), rpma::signaled(a.flags),
                                       a.remote->address + a.offset,
                                       static_cast<std::uint32_t>(a.remote->rkey)};
    const int result = rpma::post_native_flush(a.conn->qp, target, a.length,
                                               type == RPMA_FLUSH_TYPE_PERSISTENT);
    return result == 0
               ? 0
               : rpma::post_failure(result, "ibv_wr_flush", target.wr_id, a.length, where);
}

}  // namespace

int rpma_flush(struct rpma_conn* conn, struct rpma_mr_remote* dst, size_t dst_offset, size_t len,
               enum rpma_flush_type type, int flags, const void* op_context) {
    const RemoteArguments arguments = {conn, dst, dst_offset, len, flags, op_context};
    if (RPMA_UNLIKELY(!is_plain(arguments, type))) {
        return rpma::check_flush(arguments, type, Where::here());
    }
    return conn->native_flush ? flush_natively(arguments, type, Where::here())
                              : flush_by_read(arguments, Where::here());
}
