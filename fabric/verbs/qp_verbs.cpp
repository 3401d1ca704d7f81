// SPDX-License-Identifier: BSD-3-Clause
// The functions of libibverbs on queue pairs.
#include <algorithm>
#include <memory>

#include "faults/plan.hpp"
#include "log.hpp"
#include "verbs/api.hpp"
#include "verbs/gid.hpp"
#include "verbs/limits.hpp"
#include "verbs/operations.hpp"
#include "verbs/qp_ex.hpp"
#include "verbs/qp_numbers.hpp"
#include "verbs/qp_registry.hpp"
#include "verbs/queue_pair.hpp"

namespace fabric::verbs {
namespace {

bool beyond(std::uint32_t value, int limit) {
    return value > static_cast<std::uint32_t>(limit);
}

// 0 or the errno of what is asked for but does not exist here.
int check_kind(const ibv_qp_init_attr_ex& attr) {
    constexpr unsigned kKnown =
        IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    const bool has_flags = (attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0;
    const bool has_ops = (attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
    if (attr.qp_type != IBV_QPT_RC || (attr.comp_mask & ~kKnown) != 0 ||
        (has_flags && attr.create_flags != 0) ||
        (has_ops && (attr.send_ops_flags & ~supported_send_ops()) != 0))
        return EOPNOTSUPP;
    return 0;
}

int check_sizes(const ibv_qp_init_attr_ex& attr) {
    const ibv_qp_cap& cap = attr.cap;
    if ((attr.comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || attr.pd == nullptr ||
        attr.send_cq == nullptr || attr.recv_cq == nullptr)
        return EINVAL;
    if (beyond(cap.max_send_wr, limits::kMaxQpWr) || beyond(cap.max_recv_wr, limits::kMaxQpWr) ||
        beyond(cap.max_send_sge, limits::kMaxSge) || beyond(cap.max_recv_sge, limits::kMaxSge) ||
        beyond(cap.max_inline_data, limits::kMaxInline))
        return EINVAL;
    return 0;
}

int take_number(bool managed, std::uint32_t* number) {
    if (!managed)
        return qp_numbers::take_reachable(number);
    const auto taken = qp_numbers::take_managed();
    *number = taken.value_or(0);
    return taken ? 0 : ENOMEM;
}

}  // namespace

ibv_qp* create(ibv_context* context, ibv_qp_init_attr_ex* attr, bool managed) {
    int error = check_kind(*attr);
    if (error == 0)
        error = check_sizes(*attr);
    if (error == 0)
        error = faults::refusal(faults::Kind::RefuseQp);
    std::uint32_t number = 0;
    if (error == 0)
        error = take_number(managed, &number);
    if (error != 0)
        return fail(error);
    ibv_qp_cap& cap = attr->cap;
    cap.max_send_sge = std::max(cap.max_send_sge, 1U);
    cap.max_recv_sge = std::max(cap.max_recv_sge, 1U);
    // Room that was asked for as SGEs holds inline data as well; programs rely on having some.
    cap.max_inline_data = std::max(cap.max_inline_data, cap.max_send_sge * limits::kInlinePerSge);
    if (attr->srq != nullptr)
        cap.max_recv_wr = cap.max_recv_sge = 0;
    auto qp = std::make_shared<RcQueuePair>(context, *attr, number);
    if (!qp->valid()) {
        qp_numbers::give_back(number);
        return fail(ENOMEM);
    }
    qp_registry::add(qp);
    return qp->handle();
}

std::shared_ptr<QueuePair> from_handle(ibv_qp* qp) {
    return qp_registry::by_handle(qp);
}

std::shared_ptr<QueuePair> reachable_by_number(std::uint32_t number) {
    return is_reachable(number) ? qp_registry::by_number(number) : nullptr;
}

bool is_reachable(std::uint32_t number) {
    return qp_numbers::is_reachable(number);
}

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr) {
    return create(context, attr, false);
}

int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad) {
    return RcQueuePair::of(qp).post_send(wr, const_cast<const ibv_send_wr**>(bad));
}

int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad) {
    return RcQueuePair::of(qp).post_receive(wr, const_cast<const ibv_recv_wr**>(bad));
}

}  // namespace fabric::verbs

using namespace fabric::verbs;

FABRIC_API ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
    ibv_qp_init_attr_ex extended{};
    extended.qp_context = attr->qp_context;
    extended.send_cq = attr->send_cq;
    extended.recv_cq = attr->recv_cq;
    extended.srq = attr->srq;
    extended.cap = attr->cap;
    extended.qp_type = attr->qp_type;
    extended.sq_sig_all = attr->sq_sig_all;
    extended.comp_mask = IBV_QP_INIT_ATTR_PD;
    extended.pd = pd;
    ibv_qp* const qp = create(pd->context, &extended, false);
    if (qp != nullptr)
        attr->cap = extended.cap;
    return qp;
}

FABRIC_API int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
    if ((mask & IBV_QP_AV) != 0 && attr->ah_attr.is_global != 0 &&
        !gid::at(attr->ah_attr.grh.sgid_index))
        return ENODATA;
    return RcQueuePair::of(qp).modify(*attr, mask, 0);
}

FABRIC_API int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int, ibv_qp_init_attr* init) {
    RcQueuePair::of(qp).query(*attr, *init);
    return 0;
}

// Payload of a large write is read from the network by the kernel, in order, but a peer's program
// must not rely on it: no promise.
FABRIC_API int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, std::uint32_t) {
    return 0;
}

FABRIC_API int ibv_destroy_qp(ibv_qp* qp) {
    if (const auto known = qp_registry::by_handle(qp); known != nullptr && known->birth.inherited())
        return 0;
    const auto last = qp_registry::remove(qp);
    if (last == nullptr)
        return EINVAL;
    last->retire();
    qp_numbers::give_back(last->number());
    return 0;
}
