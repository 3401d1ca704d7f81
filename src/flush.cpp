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

/// Whether a flush of this type is a read that both sides allow.
RPMA_INLINE bool is_read(const rpma_conn* conn, const rpma_mr_remote* region, unsigned type) {
    const unsigned types = conn->read_flushes.load(std::memory_order_relaxed) & region->flush_types;
    return type <= RPMA_FLUSH_TYPE_VISIBILITY && (types >> type & 1) != 0;
}

/// Reads bytes that lie inside the region, as near to the range as possible.
RPMA_INLINE int flush_by_read(const rpma_conn* conn, const rpma_mr_remote* dst,
                              std::size_t dst_offset, int flags, const void* op_context,
                              const Where& where) {
    SendRequest request;
    request.set(IBV_WR_RDMA_READ, rpma::signaled(flags), op_context);
    rpma::store_words(&request.sge,
                      rpma::load_words(&conn->flush_buffer) | rpma::load_words(&dst->probe));
    request.set_remote(dst, dst_offset < dst->last_probe ? dst_offset : dst->last_probe);
    return rpma::post(conn->qp, request, where);
}

RPMA_COLD int flush_natively(const RemoteArguments& a, unsigned type, const Where& where) {
    const rpma::NativeTarget target = {rpma::wr_id_of(a.op_context), rpma::signaled(a.flags),
                                       a.remote->address + a.offset, a.remote->rkey};
    const int result =
        rpma::post_native_flush(a.conn->qp, target, a.length, type == RPMA_FLUSH_TYPE_PERSISTENT);
    return result == 0 ? 0
                       : rpma::post_failure(result, "ibv_wr_flush", target.wr_id, a.length, where);
}

RPMA_COLD int check_and_flush(const RemoteArguments& a, rpma_flush_type type, const Where& where) {
    if (const int bad = rpma::check_flush(a, type, where)) {
        return bad;
    }
    return a.conn->native_flush
               ? flush_natively(a, type, where)
               : flush_by_read(a.conn, a.remote, a.offset, a.flags, a.op_context, where);
}

}  // namespace

int rpma_flush(struct rpma_conn* conn, struct rpma_mr_remote* dst, size_t dst_offset, size_t len,
               enum rpma_flush_type type, int flags, const void* op_context) {
    static constexpr Where here = Where::here();
    if (RPMA_UNLIKELY(!rpma::surely_given(conn, dst) || flags == 0 || !is_read(conn, dst, type) ||
                      !rpma::fits(dst->size, dst_offset, len))) {
        return check_and_flush({conn, dst, dst_offset, len, flags, op_context}, type, here);
    }
    return flush_by_read(conn, dst, dst_offset, flags, op_context, here);
}
