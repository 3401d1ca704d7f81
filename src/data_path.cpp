// SPDX-License-Identifier: BSD-3-Clause
// Reads, writes, sends. Each function is one test of everything that could be wrong, then the verb;
// what fails the test is checked precisely and, if right after all, posted on a slower way.
#include <endian.h>

#include "conn.hpp"
#include "native.hpp"
#include "post.hpp"

using rpma::MessageArguments;
using rpma::RdmaArguments;
using rpma::RemoteArguments;
using rpma::SendRequest;
using rpma::Where;

namespace {

/// For what the fast path passed on: bad arguments, no regions, regions beyond 4 GiB.
RPMA_COLD int check_and_post(const RdmaArguments& a, const Where& where) {
    if (const int bad = rpma::check_rdma(a, where)) {
        return bad;
    }
    SendRequest request;
    request.set(a.opcode, rpma::signaled(a.flags), a.op_context);
    request.wr.imm_data = htobe32(a.imm);
    if (a.local != nullptr) {
        request.set_local(a.local, a.local_offset, a.length);
        request.set_remote(a.remote, a.remote_offset);
    } else {
        request.set_no_local();
        request.wr.wr.rdma.remote_addr = 0;
        request.wr.wr.rdma.rkey = 0;
    }
    return rpma::post(a.conn->qp, request, where);
}

RPMA_COLD int check_and_send(const rpma_conn* conn, const MessageArguments& message,
                             ibv_wr_opcode opcode, int flags, std::uint32_t imm,
                             const Where& where) {
    if (const int bad = rpma::check_send(conn, message, flags, where)) {
        return bad;
    }
    SendRequest request;
    request.set(opcode, rpma::signaled(flags), message.op_context);
    request.wr.imm_data = htobe32(imm);
    if (message.region != nullptr) {
        request.set_local(message.region, message.offset, message.length);
    } else {
        request.set_no_local();
    }
    return rpma::post(conn->qp, request, where);
}

/// Both kinds of write; opcode is a constant at each call.
RPMA_INLINE int write(ibv_wr_opcode opcode, const rpma_conn* conn, const rpma_mr_remote* dst,
                      std::size_t dst_offset, const rpma_mr_local* src, std::size_t src_offset,
                      std::size_t len, int flags, std::uint32_t imm, const void* op_context,
                      const Where& where) {
    if (RPMA_UNLIKELY(!rpma::surely_given(conn, dst, src) || flags == 0 ||
                      !rpma::fits(rpma::apart(src->source_limit), src_offset, len) ||
                      !rpma::fits(rpma::apart(dst->destination_limit), dst_offset, len))) {
        return check_and_post(
            {opcode, conn, src, src_offset, dst, dst_offset, len, flags, imm, op_context}, where);
    }
    SendRequest request;
    request.set(opcode, rpma::signaled(flags), op_context);
    if (opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
        request.wr.imm_data = htobe32(imm);
    }
    request.set_local(src, src_offset, len);
    request.set_remote(dst, dst_offset);
    return rpma::post(conn->qp, request, where);
}

/// Both kinds of send.
RPMA_INLINE int send(ibv_wr_opcode opcode, const rpma_conn* conn, const rpma_mr_local* src,
                     std::size_t offset, std::size_t len, int flags, std::uint32_t imm,
                     const void* op_context, const Where& where) {
    if (RPMA_UNLIKELY(!rpma::surely_given(conn, src) || flags == 0 ||
                      !rpma::fits(src->source_limit, offset, len))) {
        return check_and_send(conn, {src, offset, len, op_context}, opcode, flags, imm, where);
    }
    SendRequest request;
    request.set(opcode, rpma::signaled(flags), op_context);
    if (opcode == IBV_WR_SEND_WITH_IMM) {
        request.wr.imm_data = htobe32(imm);
    }
    request.set_local(src, offset, len);
    return rpma::post(conn->qp, request, where);
}

/// Inline: the source may be reused at once. The fence keeps it behind flushes that are reads.
RPMA_INLINE int write_atomically(const rpma_conn* conn, const rpma_mr_remote* dst,
                                 std::size_t dst_offset, const char* src, int flags,
                                 const void* op_context, const Where& where) {
    SendRequest request;
    request.set(IBV_WR_RDMA_WRITE, rpma::signaled(flags) | IBV_SEND_INLINE | IBV_SEND_FENCE,
                op_context);
    request.sge = {reinterpret_cast<std::uintptr_t>(src), RPMA_ATOMIC_WRITE_ALIGNMENT, 0};
    request.set_remote(dst, dst_offset);
    return rpma::post(conn->qp, request, where);
}

RPMA_COLD int write_natively(const RemoteArguments& a, const char* src, const Where& where) {
    // Behind flushes that are reads only a fence keeps it; behind native flushes it stays by
    // itself.
    const unsigned fence = a.conn->native_flush ? 0 : IBV_SEND_FENCE;
    const rpma::NativeTarget target = {rpma::wr_id_of(a.op_context),
                                       rpma::signaled(a.flags) | fence,
                                       a.remote->address + a.offset, a.remote->rkey};
    const int result = rpma::post_native_atomic_write(a.conn->qp, target, src);
    return result == 0
               ? 0
               : rpma::post_failure(result, "ibv_wr_atomic_write", target.wr_id, a.length, where);
}

RPMA_COLD int check_and_write_atomically(const RemoteArguments& a, const char* src,
                                         const Where& where) {
    if (const int bad = rpma::check_atomic_write(a, src, where)) {
        return bad;
    }
    return a.conn->native_atomic_write
               ? write_natively(a, src, where)
               : write_atomically(a.conn, a.remote, a.offset, src, a.flags, a.op_context, where);
}

}  // namespace

int rpma_read(struct rpma_conn* conn, struct rpma_mr_local* dst, size_t dst_offset,
              const struct rpma_mr_remote* src, size_t src_offset, size_t len, int flags,
              const void* op_context) {
    static constexpr Where here = Where::here();
    if (RPMA_UNLIKELY(!rpma::surely_given(conn, dst, src) || flags == 0 ||
                      !rpma::fits(rpma::apart(src->source_limit), src_offset, len) ||
                      !rpma::fits(rpma::apart(dst->destination_limit), dst_offset, len))) {
        return check_and_post(
            {IBV_WR_RDMA_READ, conn, dst, dst_offset, src, src_offset, len, flags, 0, op_context},
            here);
    }
    SendRequest request;
    request.set(IBV_WR_RDMA_READ, rpma::signaled(flags), op_context);
    request.set_remote(src, src_offset);
    request.set_local(dst, dst_offset, len);
    return rpma::post(conn->qp, request, here);
}

int rpma_write(struct rpma_conn* conn, struct rpma_mr_remote* dst, size_t dst_offset,
               const struct rpma_mr_local* src, size_t src_offset, size_t len, int flags,
               const void* op_context) {
    static constexpr Where here = Where::here();
    return write(IBV_WR_RDMA_WRITE, conn, dst, dst_offset, src, src_offset, len, flags, 0,
                 op_context, here);
}

int rpma_write_with_imm(struct rpma_conn* conn, struct rpma_mr_remote* dst, size_t dst_offset,
                        const struct rpma_mr_local* src, size_t src_offset, size_t len, int flags,
                        uint32_t imm, const void* op_context) {
    static constexpr Where here = Where::here();
    return write(IBV_WR_RDMA_WRITE_WITH_IMM, conn, dst, dst_offset, src, src_offset, len, flags,
                 imm, op_context, here);
}

int rpma_atomic_write(struct rpma_conn* conn, struct rpma_mr_remote* dst, size_t dst_offset,
                      const char src[8], int flags, const void* op_context) {
    static constexpr Where here = Where::here();
    constexpr std::size_t kSize = RPMA_ATOMIC_WRITE_ALIGNMENT;
    if (RPMA_UNLIKELY(!rpma::surely_given(conn, dst, src) || flags == 0 ||
                      conn->native_atomic_write || dst_offset % kSize != 0 ||
                      dst_offset >= dst->atomic_limit)) {
        return check_and_write_atomically({conn, dst, dst_offset, kSize, flags, op_context}, src,
                                          here);
    }
    return write_atomically(conn, dst, dst_offset, src, flags, op_context, here);
}

int rpma_send(struct rpma_conn* conn, const struct rpma_mr_local* src, size_t offset, size_t len,
              int flags, const void* op_context) {
    static constexpr Where here = Where::here();
    return send(IBV_WR_SEND, conn, src, offset, len, flags, 0, op_context, here);
}

int rpma_send_with_imm(struct rpma_conn* conn, const struct rpma_mr_local* src, size_t offset,
                       size_t len, int flags, uint32_t imm, const void* op_context) {
    static constexpr Where here = Where::here();
    return send(IBV_WR_SEND_WITH_IMM, conn, src, offset, len, flags, imm, op_context, here);
}
