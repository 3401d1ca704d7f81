// SPDX-License-Identifier: BSD-3-Clause
// Posting receives: to a connection, to a request before it is connected, to a shared receive queue.
#include "api.hpp"
#include "conn.hpp"
#include "conn_req.hpp"
#include "post.hpp"
#include "srq.hpp"

using rpma::MessageArguments;
using rpma::Where;

namespace {

struct RecvRequest {
    ibv_sge sge;
    ibv_recv_wr wr;

    RPMA_INLINE void set(const MessageArguments& message) {
        wr.wr_id = rpma::wr_id_of(message.op_context);
        wr.next = nullptr;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        sge.addr = message.region->address + message.offset;
        sge.length = static_cast<std::uint32_t>(message.length);
        sge.lkey = message.region->lkey;
    }
    void set_empty(const MessageArguments& message) {
        wr = {rpma::wr_id_of(message.op_context), nullptr, nullptr, 0};
    }
};

RPMA_INLINE int post_to(ibv_qp* qp, RecvRequest& request, const Where& where) {
    ibv_recv_wr* bad = nullptr;
    const int result = ibv_post_recv(qp, &request.wr, &bad);
    const std::size_t bytes = request.wr.num_sge != 0 ? request.sge.length : 0;
    return RPMA_LIKELY(result == 0)
               ? 0
               : rpma::post_failure(result, "ibv_post_recv", request.wr.wr_id, bytes, where);
}

RPMA_INLINE int post_to(ibv_srq* srq, RecvRequest& request, const Where& where) {
    ibv_recv_wr* bad = nullptr;
    const int result = ibv_post_srq_recv(srq, &request.wr, &bad);
    const std::size_t bytes = request.wr.num_sge != 0 ? request.sge.length : 0;
    return RPMA_LIKELY(result == 0)
               ? 0
               : rpma::post_failure(result, "ibv_post_srq_recv", request.wr.wr_id, bytes, where);
}

RPMA_INLINE bool is_plain(const MessageArguments& message) {
    return message.region != nullptr &&
           rpma::fits(message.region->source_limit, message.offset, message.length);
}

template <typename Queue>
RPMA_INLINE int post_plain(Queue* queue, const MessageArguments& message, const Where& where) {
    RecvRequest request;
    request.set(message);
    return post_to(queue, request, where);
}

/// For what has been checked precisely: also without a region.
template <typename Queue>
RPMA_COLD int post_any(Queue* queue, const MessageArguments& message, const Where& where) {
    if (message.region != nullptr) {
        return post_plain(queue, message, where);
    }
    RecvRequest request;
    request.set_empty(message);
    return post_to(queue, request, where);
}

}  // namespace

int rpma_recv(struct rpma_conn* conn, struct rpma_mr_local* dst, size_t offset, size_t len,
              const void* op_context) {
    const MessageArguments message = {dst, offset, len, op_context};
    if (RPMA_LIKELY(conn != nullptr && is_plain(message))) {
        return post_plain(conn->qp, message, Where::here());
    }
    const int bad = rpma::check_recv("conn", conn, message, Where::here());
    return bad != 0 ? bad : post_any(conn->qp, message, Where::here());
}

int rpma_conn_req_recv(struct rpma_conn_req* req, struct rpma_mr_local* dst, size_t offset,
                       size_t len, const void* op_context) {
    if (const int bad = rpma::refuse_null({{"req", req}, {"dst", dst}}, Where::here(),
                                          rpma::Origin::data_path)) {
        return bad;
    }
    const MessageArguments message = {dst, offset, len, op_context};
    const int bad = rpma::check_recv("req", req, message, Where::here());
    return bad != 0 ? bad : post_any(req->link->qp(), message, Where::here());
}

int rpma_srq_recv(struct rpma_srq* srq, struct rpma_mr_local* dst, size_t offset, size_t len,
                  const void* op_context) {
    const MessageArguments message = {dst, offset, len, op_context};
    if (RPMA_LIKELY(srq != nullptr && is_plain(message))) {
        return post_plain(srq->srq.get(), message, Where::here());
    }
    const int bad = rpma::check_recv("srq", srq, message, Where::here());
    return bad != 0 ? bad : post_any(srq->srq.get(), message, Where::here());
}
