// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/async_event.hpp"

#include "verbs/api.hpp"
#include "verbs/context.hpp"
#include "verbs/object_events.hpp"

namespace fabric::verbs {

int AsyncEvents::take(ibv_async_event& out) {
    Entry entry{};
    const int error = queue_.take(entry, [](const Entry& taken) { ++*taken.taken; });
    if (error == 0)
        out = entry.event;
    return error;
}

std::uint32_t AsyncEvents::forget(const std::uint32_t* taken) {
    std::uint32_t count = 0;
    queue_.remove([taken](const Entry& entry) { return entry.taken == taken; },
                  [&count, taken] { count = *taken; });
    return count;
}

}  // namespace fabric::verbs

using namespace fabric::verbs;

FABRIC_API int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
    const int error = Context::of(context).async.take(*event);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

FABRIC_API void ibv_ack_async_event(ibv_async_event* event) {
    switch (event->event_type) {
        case IBV_EVENT_CQ_ERR: {
            ibv_cq* const cq = event->element.cq;
            acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed, 1);
            return;
        }
        case IBV_EVENT_SRQ_ERR:
        case IBV_EVENT_SRQ_LIMIT_REACHED: {
            ibv_srq* const srq = event->element.srq;
            acknowledge(&srq->mutex, &srq->cond, &srq->events_completed, 1);
            return;
        }
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_COMM_EST:
        case IBV_EVENT_SQ_DRAINED:
        case IBV_EVENT_PATH_MIG:
        case IBV_EVENT_PATH_MIG_ERR:
        case IBV_EVENT_QP_LAST_WQE_REACHED: {
            ibv_qp* const qp = event->element.qp;
            acknowledge(&qp->mutex, &qp->cond, &qp->events_completed, 1);
            return;
        }
        default:  // port and device events belong to no object
            return;
    }
}
