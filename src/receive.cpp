// SPDX-License-Identifier: BSD-3-Clause
// Posting receives: to a connection, to a request before it is connected, to a shared receive
// queue.
#include "api.hpp"
#include "conn.hpp"
#include "conn_req.hpp"
#include "post.hpp"
#include "srq.hpp"

using rpma::MessageArguments;
using rpma::Where;

namespace {

struct QpQueue {
    ibv_qp* qp;
    static constexpr const char* verb = "ibv_post_recv";
    RPMA_INLINE int post(ibv_recv_wr* wr, ibv_recv_wr** bad) const {
        return ibv_post_recv(qp, wr, bad);
    }
};

struct SrqQueue {
    ibv_srq* srq;
    static constexpr const char* verb = "ibv_post_srq_recv";
    RPMA_INLINE int post(ibv_recv_wr* wr, ibv_recv_wr** bad) const {
        return ibv_post_srq_recv(srq, wr, bad);
    }
};

template <typename Queue>
RPMA_INLINE int post(Queue queue, const rpma_mr_local* region, std::size_t offset, std::size_t len,
                     const void* op_context, const Where& where) {
    struct {
        ibv_sge sge;
        ibv_recv_wr wr;
        ibv_recv_wr* bad;
    } request;  // NOLINT(cppcoreguidelines-pro-type-member-init): bad is set by the verb, never
                // read
    rpma::fill(request.sge, region, offset, len);
    rpma::set_id(request.wr, op_context);
    request.wr.sg_list = &request.sge;
    request.wr.num_sge = 1;
    const int result = queue.post(&request.wr, &request.bad);
    return RPMA_LIKELY(result == 0) ? 0
                                    : rpma::post_failure(result, Queue::verb, request.wr.wr_id,
                                                         request.sge.length, where);
}

/// For what has been checked precisely: also without a region.
template <typename Queue>
RPMA_COLD int post_checked(Queue queue, const MessageArguments& message, const Where& where) {
    if (message.region != nullptr) {
        return post(queue, message.region, message.offset, message.length, message.op_context,
                    where);
    }
    ibv_recv_wr wr = {rpma::wr_id_of(message.op_context), nullptr, nullptr, 0};
    ibv_recv_wr* bad = nullptr;
    const int result = queue.post(&wr, &bad);
    return result == 0 ? 0 : rpma::post_failure(result, Queue::verb, wr.wr_id, 0, where);
}

RPMA_COLD int check_and_recv(const rpma_conn* conn, const MessageArguments& message,
                             const Where& where) {
    const int bad = rpma::check_recv("conn", conn, message, where);
    return bad != 0 ? bad : post_checked(QpQueue{conn->receiving_qp}, message, where);
}

RPMA_COLD int check_and_recv(const rpma_srq* srq, const MessageArguments& message,
                             const Where& where) {
    const int bad = rpma::check_recv("srq", srq, message, where);
    return bad != 0 ? bad : post_checked(SrqQueue{srq->srq.get()}, message, where);
}

}  // namespace

int rpma_recv(struct rpma_conn* conn, struct rpma_mr_local* dst, size_t offset, size_t len,
              const void* op_context) {
    static constexpr Where here = Where::here();
    if (RPMA_UNLIKELY(!rpma::surely_given(conn, dst) ||
                      !rpma::fits(dst->source_limit, offset, len))) {
        return check_and_recv(conn, {dst, offset, len, op_context}, here);
    }
    return post(QpQueue{conn->receiving_qp}, dst, offset, len, op_context, here);
}

int rpma_conn_req_recv(struct rpma_conn_req* req, struct rpma_mr_local* dst, size_t offset,
                       size_t len, const void* op_context) {
    static constexpr Where here = Where::here();
    if (const int bad =
            rpma::refuse_null({{"req", req}, {"dst", dst}}, here, rpma::Origin::data_path)) {
        return bad;
    }
    const MessageArguments message = {dst, offset, len, op_context};
    const int bad = rpma::check_recv("req", req, message, here);
    return bad != 0 ? bad : post_checked(QpQueue{req->link->receiving_qp()}, message, here);
}

int rpma_srq_recv(struct rpma_srq* srq, struct rpma_mr_local* dst, size_t offset, size_t len,
                  const void* op_context) {
    static constexpr Where here = Where::here();
    if (RPMA_UNLIKELY(!rpma::surely_given(srq, dst) ||
                      !rpma::fits(dst->source_limit, offset, len))) {
        return check_and_recv(srq, {dst, offset, len, op_context}, here);
    }
    return post(SrqQueue{srq->srq.get()}, dst, offset, len, op_context, here);
}
