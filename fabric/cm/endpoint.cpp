// SPDX-License-Identifier: BSD-3-Clause
// rdma_create_ep, rdma_get_request, rdma_destroy_ep.
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "cm/api.hpp"
#include "cm/bind.hpp"
#include "cm/id_lifetime.hpp"
#include "cm/resolve.hpp"

namespace fabric::cm {
namespace {

int make_passive(const std::shared_ptr<Id>& id, const rdma_addrinfo& info, ibv_pd* pd,
                 const ibv_qp_init_attr* attr) {
    if (info.ai_src_addr == nullptr)
        return EINVAL;
    const Turn turn(id);
    if (const int error = bind_id(*id, *info.ai_src_addr); error != 0)
        return error;
    id->request_pd = pd;
    if (attr != nullptr) {
        id->request_qp = std::make_unique<ibv_qp_init_attr>(*attr);
        id->request_qp->qp_type = id->qp_type;
    }
    return 0;
}

int make_active(const std::shared_ptr<Id>& id, const rdma_addrinfo& info, ibv_pd* pd,
                ibv_qp_init_attr* attr) {
    if (info.ai_dst_addr == nullptr)
        return EINVAL;
    if (const int error = resolve_address(id, info.ai_src_addr, *info.ai_dst_addr); error != 0)
        return error;
    if (const int error = resolve_route(id); error != 0)
        return error;
    if (attr == nullptr)
        return 0;
    attr->qp_type = id->qp_type;
    return rdma_create_qp(id.get(), pd, attr) == 0 ? 0 : errno;
}

int create_ep(rdma_cm_id** out, const rdma_addrinfo& info, ibv_pd* pd, ibv_qp_init_attr* attr) {
    std::shared_ptr<Id> id;
    const auto space = static_cast<rdma_port_space>(info.ai_port_space);
    const auto type = static_cast<ibv_qp_type>(info.ai_qp_type);
    if (const int error = create_id(nullptr, space, type, &id); error != 0)
        return error;
    rdma_cm_id* const handle = id->publish();
    const int error = (info.ai_flags & RAI_PASSIVE) != 0 ? make_passive(id, info, pd, attr)
                                                         : make_active(id, info, pd, attr);
    if (error != 0) {
        rdma_destroy_ep(handle);
        return error;
    }
    *out = handle;
    return 0;
}

// librdmacm's order: the event stays with the listening id if the request cannot be served.
int serve(Id& listening, rdma_cm_event* event, rdma_cm_id** out) {
    int error = 0;
    if (event->status != 0)
        error = event->status < 0 ? -event->status : event->status;
    else if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
        error = EINVAL;
    else if (listening.request_qp != nullptr) {
        ibv_qp_init_attr attr = *listening.request_qp;
        error = rdma_create_qp(event->id, listening.request_pd, &attr) == 0 ? 0 : errno;
    }
    if (error != 0) {
        listening.event = event;
        return error;
    }
    event->id->event = event;
    *out = event->id;
    return 0;
}

int get_request(Id& listening, rdma_cm_id** out) {
    if (!listening.is_synchronous())
        return EINVAL;
    if (listening.event != nullptr)
        rdma_ack_cm_event(std::exchange(listening.event, nullptr));
    rdma_cm_event* event = nullptr;
    if (const int error = next_event(listening.channel, Waiting::AsDescriptor, &event); error != 0)
        return error;
    return serve(listening, event, out);
}

}  // namespace
}  // namespace fabric::cm

using namespace fabric::cm;

RDMACM_API int rdma_create_ep(rdma_cm_id** id, rdma_addrinfo* res, ibv_pd* pd,
                              ibv_qp_init_attr* qp_init_attr) {
    if (id == nullptr || res == nullptr)
        return result(EINVAL);
    return result(create_ep(id, *res, pd, qp_init_attr));
}

RDMACM_API int rdma_get_request(rdma_cm_id* listen, rdma_cm_id** id) {
    const auto target = Id::of(listen);
    if (target == nullptr || id == nullptr)
        return result(EINVAL);
    return result(get_request(*target, id));
}

RDMACM_API void rdma_destroy_ep(rdma_cm_id* id) {
    if (id == nullptr)
        return;
    if (id->qp != nullptr)
        rdma_destroy_qp(id);
    if (id->srq != nullptr)
        rdma_destroy_srq(id);
    rdma_destroy_id(id);
}
