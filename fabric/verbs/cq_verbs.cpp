// SPDX-License-Identifier: BSD-3-Clause
// The functions of libibverbs on completion queues.
#include <memory>

#include "faults/plan.hpp"
#include "verbs/api.hpp"
#include "verbs/cq.hpp"
#include "verbs/cq_ex.hpp"
#include "verbs/limits.hpp"
#include "verbs/object_events.hpp"
#include "verbs/operations.hpp"

namespace fabric::verbs {
namespace {

constexpr std::uint64_t kTimeFields =
    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;

bool valid_size(std::int64_t entries) {
    return entries > 0 && entries <= limits::kMaxCqe;
}

Cq* create(ibv_context* context, const Cq::Settings& settings) {
    if (const int error = faults::refusal(faults::Kind::RefuseCq); error != 0)
        return fail(error);
    auto cq = std::make_unique<Cq>(context, settings);
    if (!cq->valid())
        return fail(ENOMEM);
    return cq.release();
}

// 0 or the errno of what is asked for but does not exist here.
int check(const ibv_context* context, const ibv_cq_init_attr_ex& attr) {
    constexpr unsigned kKnownMask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
    constexpr unsigned kKnownFlags =
        IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
    if ((attr.comp_mask & ~kKnownMask) != 0 || (attr.wc_flags & ~kReadableWcFields) != 0)
        return EOPNOTSUPP;
    if ((attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 && (attr.flags & ~kKnownFlags) != 0)
        return EOPNOTSUPP;
    const bool sized = valid_size(attr.cqe);
    return sized && attr.comp_vector < static_cast<unsigned>(context->num_comp_vectors) ? 0
                                                                                        : EINVAL;
}

}  // namespace

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr) {
    if (const int error = check(context, *attr); error != 0)
        return fail(error);
    Cq* const cq = create(
        context, {attr->cqe, attr->cq_context, attr->channel, (attr->wc_flags & kTimeFields) != 0});
    if (cq == nullptr)
        return nullptr;
    fill_cq_functions(*cq->extended_handle());
    return cq->extended_handle();
}

int poll_cq(ibv_cq* cq, int entries, ibv_wc* wc) {
    return Cq::of(cq).poll(entries, wc);
}

int req_notify_cq(ibv_cq* cq, int solicited_only) {
    Cq::of(cq).request_notification(solicited_only != 0);
    return 0;
}

}  // namespace fabric::verbs

using namespace fabric::verbs;

FABRIC_API ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* cq_context,
                                 ibv_comp_channel* channel, int comp_vector) {
    if (!valid_size(entries) || comp_vector < 0 || comp_vector >= context->num_comp_vectors)
        return fail(EINVAL);
    Cq* const cq =
        create(context, {static_cast<std::uint32_t>(entries), cq_context, channel, false});
    return cq == nullptr ? nullptr : cq->handle();
}

FABRIC_API int ibv_resize_cq(ibv_cq* cq, int entries) {
    return valid_size(entries) ? Cq::of(cq).resize(static_cast<std::uint32_t>(entries)) : EINVAL;
}

FABRIC_API int ibv_destroy_cq(ibv_cq* cq) {
    Cq& self = Cq::of(cq);
    if (self.birth.inherited())
        return 0;
    if (self.in_use())
        return EBUSY;
    self.settle_events();
    delete &self;
    return 0;
}

FABRIC_API void ibv_ack_cq_events(ibv_cq* cq, unsigned events) {
    acknowledge(&cq->mutex, &cq->cond, &cq->comp_events_completed, events);
}
