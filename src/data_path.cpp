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

RPMA_INLINE bool is_plain_write(const RdmaArguments& a) {
    return a.conn != nullptr && a.remote != nullptr && a.local != nullptr && a.flags != 0 &&
           rpma::fits(a.local->source_limit, a.local_offset, a.length) &&
           rpma::fits(a.remote->destination_limit, a.remote_offset, a.length);
}

RPMA_INLINE bool is_plain_read(const RdmaArguments& a) {
    return a.conn != nullptr && a.remote != nullptr && a.local != nullptr && a.flags != 0 &&
           rpma::fits(a.local->destination_limit, a.local_offset, a.length) &&
           rpma::fits(a.remote->source_limit, a.remote_offset, a.length);
}

RPMA_INLINE int post_rdma(const RdmaArguments& a, const Where& where) {
    SendRequest request;
    request.set(a.opcode, rpma::signaled(a.flags), a.op_context);
    if (a.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
        request.wr.imm_data = htobe32(a.imm);
    }
    request.set_local(a.local, a.local_offset, a.length);
    request.set_remote(a.remote, a.remote_offset);
    return rpma::post(a.conn->qp, request, where);
}

RPMA_COLD int check_and_post(const RdmaArguments& a, const Where& where) {
    if (const int bad = rpma::check_rdma(a, where)) {
        return bad;
    }
    if (a.local != nullptr) {
        return post_rdma(a, where);
    }
    SendRequest request;
    request.set(a.opcode, rpma::signaled(a.flags), a.op_context);
    request.wr.imm_data = htobe32(a.imm);
    request.set_no_local();
    request.wr.wr.rdma.remote_addr = 0;
    request.wr.wr.rdma.rkey = 0;
    return rpma::post(a.conn->qp, request, where);
}

RPMA_INLINE int post_message(const rpma_conn* conn, const MessageArguments& message,
                             ibv_wr_opcode opcode, int flags, std::uint32_t imm,
                             const Where& where) {
    SendRequest request;
    request.set(opcode, rpma::signaled(flags), message.op_context);
    if (opcode == IBV_WR_SEND_WITH_IMM) {
        request.wr.imm_data = htobe32(imm);
    }
    request.set_local(message.region, message.offset, message.length);
    return rpma::post(conn->qp, request, where);
}

RPMA_COLD int check_and_send(const rpma_conn* conn, const MessageArguments& message,
                             ibv_wr_opcode opcode, int flags, std::uint32_t imm,
                             const Where& where) {
    if (const int bad = rpma::check_send(conn, message, flags, where)) {
        return bad;
    }
    if (message.region != nullptr) {
        return post_message(conn, message, opcode, flags, imm, where);
    }
    SendRequest request;
    request.set(opcode, rpma::signaled(flags), message.op_context);
    request.wr.imm_data = htobe32(imm);
    request.set_no_local();
    return rpma::post(conn->qp, request, where);
}

RPMA_INLINE int send(const rpma_conn* conn, const MessageArguments& message, ibv_wr_opcode opcode,
                     int flags, std::uint32_t imm, const Where& where) {
    const bool plain = conn != nullptr && message.region != nullptr && flags != 0 &&
                       rpma::fits(message.region->source_limit, message.offset, message.length);
    return RPMA_LIKELY(plain) ? post_message(conn, message, opcode, flags, imm, where)
                              : check_and_send(conn, message, opcode, flags, imm, where);
}

RPMA_COLD int post_native(const RemoteArguments& a, const void* src, const Where& where) {
    // Behind flushes that are reads only a fence keeps it; behind native flushes it stays by itself.
    const unsigned fence = a.conn->native_flush ? 0 : IBV_SEND_FENCE;
    const rpma::NativeTarget target = {rpma::wr_id_of(a.op_context),
                                       rpma::signaled(a.flags) | fence,
                                       a.remote->address + a.offset,
                                       static_cast<std::uint32_t>(a.remote->rkey)};
    const int result = rpma::post_native_atomic_write(a.conn->qp, target, src);
    return result == 0 ? 0
                       : rpma::post_failure(result, "ibv_wr_atomic_write", target.wr_id, a.length,
                                            where);
}

RPMA_INLINE bool is_plain_atomic_write(const RemoteArguments& a, const void* src) {
    return a.conn != nullptr && a.remote != nullptr && src != nullptr && a.flags != 0 &&
           (a.offset | (a.remote->address + a.offset)) % RPMA_ATOMIC_WRITE_ALIGNMENT == 0 &&
           rpma::fits(a.remote->destination_limit, a.offset, a.length);
}

}  // namespace

int rpma_read(struct rpma_conn* conn, struct rpma_mr_local* dst, size_t dst_offset,
              const struct rpma_mr_remote* src, size_t src_offset, size_t len, int flags,
              const void* op_context) {
    const RdmaArguments arguments = {IBV_WR_RDMA_READ, conn, dst,   dst_offset, src,
                                     src_offset,       len,  flags, 0,          op_context};
    return RPMA_LIKELY(is_plain_read(arguments)) ? post_rdma(arguments, Where::here())
                                                 : check_and_post(arguments, Where::here());
}

int rpma_write(struct rpma_conn* conn, struct rpma_mr_remote* dst, size_t dst_offset,
               const struct rpma_mr_local* src, size_t src_offset, size_t len, int flags,
               const void* op_context) {
    const RdmaArguments arguments = {IBV_WR_RDMA_WRITE, conn, src,   src_offset, dst,
                                     dst_offset,        len,  flags, 0,          op_context};
    return RPMA_LIKELY(is_plain_write(arguments)) ? post_rdma(arguments, Where::here())
                                                  : check_and_post(arguments, Where::here());
}

int rpma_write_with_imm(struct rpma_conn* conn, struct rpma_mr_remote* dst, size_t dst_offset,
                        const struct rpma_mr_local* src, size_t src_offset, size_t len, int flags,
                        uint32_t imm, const void* op_context) {
    const RdmaArguments arguments = {
        IBV_WR_RDMA_WRITE_WITH_IMM, conn, src, src_offset, dst, dst_offset, len, flags, imm,
        op_context};
    return RPMA_LIKELY(is_plain_write(arguments)) ? post_rdma(arguments, Where::here())
                                                  : check_and_post(arguments, Where::here());
}

int rpma_atomic_write(struct rpma_conn* conn, struct rpma_mr_remote* dst, size_t dst_offset,
                      const char src[8], int flags, const void* op_context) {
    const RemoteArguments arguments = {conn,  dst,       dst_offset, RPMA_ATOMIC_WRITE_ALIGNMENT,
                                       flags, op_context};
    if (RPMA_UNLIKELY(!is_plain_atomic_write(arguments, src))) {
        if (const int bad = rpma::check_atomic_write(arguments, src, Where::here())) {
            return bad;
        }
    }
    if (conn->native_atomic_write) {
        return post_native(arguments, src, Where::here());
    }
    SendRequest request;
    // Inline: src may be reused at once. The fence keeps the write behind flushes that are reads.
    request.set(IBV_WR_RDMA_WRITE, rpma::signaled(flags) | IBV_SEND_INLINE | IBV_SEND_FENCE,
                op_context);
    request.sge = {reinterpret_cast<std::uintptr_t>(src), RPMA_ATOMIC_WRITE_ALIGNMENT, 0};
    request.set_remote(dst, dst_offset);
    return rpma::post(conn->qp, request, Where::here());
}

int rpma_send(struct rpma_conn* conn, const struct rpma_mr_local* src, size_t offset, size_t len,
              int flags, const void* op_context) {
    return send(conn, {src, offset, len, op_context}, IBV_WR_SEND, flags, 0, Where::here());
}

int rpma_send_with_imm(struct rpma_conn* conn, const struct rpma_mr_local* src, size_t offset,
                       size_t len, int flags, uint32_t imm, const void* op_context) {
    return send(conn, {src, offset, len, op_context}, IBV_WR_SEND_WITH_IMM, flags, imm,
                Where::here());
}
