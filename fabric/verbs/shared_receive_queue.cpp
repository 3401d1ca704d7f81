// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/shared_receive_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

#include "faults/plan.hpp"
#include "verbs/api.hpp"
#include "verbs/limits.hpp"
#include "verbs/object_events.hpp"
#include "verbs/operations.hpp"

namespace fabric::verbs {

SharedReceiveQueue::SharedReceiveQueue(ibv_pd* pd, void* user_context, const ibv_srq_attr& attr)
    : pd_use_(pd),
      capacity_(attr.max_wr),
      max_sge_(attr.max_sge),
      items_(make_array<Item>(capacity_)),
      sges_(make_array<ibv_sge>(std::size_t{capacity_} * max_sge_)) {
    static std::atomic<std::uint32_t> handles{0};
    shown_.self = this;
    shown_.srq.context = pd->context;
    shown_.srq.srq_context = user_context;
    shown_.srq.pd = pd;
    shown_.srq.handle = ++handles;
    pthread_mutex_init(&shown_.srq.mutex, nullptr);
    pthread_cond_init(&shown_.srq.cond, nullptr);
}

SharedReceiveQueue::~SharedReceiveQueue() {
    pthread_mutex_destroy(&shown_.srq.mutex);
    pthread_cond_destroy(&shown_.srq.cond);
}

int SharedReceiveQueue::post(const ibv_recv_wr& request) {
    const auto pieces = static_cast<std::uint32_t>(std::max(request.num_sge, 0));
    if (request.num_sge < 0 || pieces > max_sge_)
        return EINVAL;
    const std::lock_guard guard(mutex_);
    if (count_ == capacity_)
        return ENOMEM;
    const std::uint32_t place = (first_ + count_++) % capacity_;
    items_[place] = {request.wr_id, pieces};
    std::copy_n(request.sg_list, pieces, sges_.get() + std::size_t{place} * max_sge_);
    return 0;
}

bool SharedReceiveQueue::pop(rc::ReceiveRequest& out) {
    const std::lock_guard guard(mutex_);
    if (count_ == 0)
        return false;
    const Item& item = items_[first_];
    out.wr_id = item.wr_id;
    out.num_sge = item.num_sge;
    std::copy_n(sges_.get() + std::size_t{first_} * max_sge_, item.num_sge, out.sge.begin());
    first_ = (first_ + 1) % capacity_;
    --count_;
    check_limit();
    return true;
}

// Caller holds the lock.
void SharedReceiveQueue::check_limit() {
    if (count_ >= limit_)
        return;
    limit_ = 0;
    ibv_async_event event{};
    event.event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
    event.element.srq = &shown_.srq;
    Context::of(shown_.srq.context).async.report(event, &events_taken_);
}

void SharedReceiveQueue::set_limit(std::uint32_t limit) {
    const std::lock_guard guard(mutex_);
    limit_ = limit;
    check_limit();
}

ibv_srq_attr SharedReceiveQueue::attributes() {
    const std::lock_guard guard(mutex_);
    return {capacity_, max_sge_, limit_};
}

void SharedReceiveQueue::settle_events() {
    ibv_srq& srq = shown_.srq;
    await_acknowledged(&srq.mutex, &srq.cond, &srq.events_completed,
                       Context::of(srq.context).async.forget(&events_taken_));
}

ibv_srq* create_srq_ex(ibv_context*, ibv_srq_init_attr_ex* attr) {
    constexpr unsigned kKnown = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
    const bool other_type =
        (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) != 0 && attr->srq_type != IBV_SRQT_BASIC;
    if (other_type || (attr->comp_mask & ~kKnown) != 0)
        return fail(EOPNOTSUPP);
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0 || attr->pd == nullptr)
        return fail(EINVAL);
    // The extended structure begins like the basic one.
    return ibv_create_srq(attr->pd, reinterpret_cast<ibv_srq_init_attr*>(attr));
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad) {
    SharedReceiveQueue& self = SharedReceiveQueue::of(srq);
    for (; wr != nullptr; wr = wr->next)
        if (const int error = self.post(*wr); error != 0) {
            *bad = wr;
            return error;
        }
    return 0;
}

}  // namespace fabric::verbs

using namespace fabric::verbs;

FABRIC_API ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* init) {
    ibv_srq_attr& attr = init->attr;
    if (attr.max_wr == 0 || attr.max_wr > static_cast<unsigned>(limits::kMaxSrqWr) ||
        attr.max_sge > static_cast<unsigned>(limits::kMaxSge))
        return fail(EINVAL);
    if (const int error = fabric::faults::refusal(fabric::faults::Kind::RefuseSrq); error != 0)
        return fail(error);
    attr.max_sge = std::max(attr.max_sge, 1U);
    auto srq = std::make_unique<SharedReceiveQueue>(pd, init->srq_context, attr);
    if (!srq->valid())
        return fail(ENOMEM);
    Context::of(pd->context).add_user();
    return srq.release()->handle();
}

// The size is fixed: the device has no IBV_DEVICE_SRQ_RESIZE.
FABRIC_API int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) {
    if ((mask & IBV_SRQ_MAX_WR) != 0)
        return EOPNOTSUPP;
    if (mask != IBV_SRQ_LIMIT)
        return EINVAL;
    SharedReceiveQueue& self = SharedReceiveQueue::of(srq);
    if (attr->srq_limit > self.attributes().max_wr)
        return EINVAL;
    self.set_limit(attr->srq_limit);
    return 0;
}

FABRIC_API int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* attr) {
    *attr = SharedReceiveQueue::of(srq).attributes();
    return 0;
}

FABRIC_API int ibv_destroy_srq(ibv_srq* srq) {
    SharedReceiveQueue& self = SharedReceiveQueue::of(srq);
    if (self.birth.inherited())
        return 0;
    if (self.in_use())
        return EBUSY;
    self.settle_events();
    Context& context = Context::of(srq->context);
    delete &self;
    context.drop_user();
    return 0;
}
