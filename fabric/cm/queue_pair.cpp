// SPDX-License-Identifier: BSD-3-Clause
// rdma_create_qp(_ex), rdma_destroy_qp, rdma_init_qp_attr.
#include "cm/queue_pair.hpp"

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "cm/api.hpp"
#include "cm/qp_state.hpp"
#include "verbs/qp.hpp"

namespace fabric::cm {
namespace {

int make_queue(Id& id, std::uint32_t size, ibv_comp_channel*& channel, ibv_cq*& queue) {
    if (size > INT_MAX)
        return EINVAL;
    channel = ibv_create_comp_channel(id.verbs);
    if (channel == nullptr)
        return errno;
    queue = ibv_create_cq(id.verbs, static_cast<int>(size), &id, channel, 0);
    return queue == nullptr ? errno : 0;
}

// A queue pair without queues gets one for each direction that has any work requests.
int make_queues(Id& id, const ibv_qp_init_attr_ex& attr) {
    if (attr.recv_cq == nullptr && id.recv_cq == nullptr && attr.cap.max_recv_wr > 0) {
        const int error = make_queue(id, attr.cap.max_recv_wr, id.recv_cq_channel, id.recv_cq);
        if (error != 0)
            return error;
    }
    if (attr.send_cq == nullptr && id.send_cq == nullptr && attr.cap.max_send_wr > 0)
        return make_queue(id, attr.cap.max_send_wr, id.send_cq_channel, id.send_cq);
    return 0;
}

void fill_in(const Id& id, ibv_qp_init_attr_ex& attr) {
    if ((attr.comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || attr.pd == nullptr) {
        attr.comp_mask |= IBV_QP_INIT_ATTR_PD;
        attr.pd = id.pd;
    }
    if (attr.send_cq == nullptr)
        attr.send_cq = id.send_cq;
    if (attr.recv_cq == nullptr)
        attr.recv_cq = id.recv_cq;
    if (attr.srq == nullptr)
        attr.srq = id.srq;
}

int create_pair(Id& id, ibv_qp_init_attr_ex& attr) {
    fill_in(id, attr);
    errno = 0;
    ibv_qp* const pair = verbs::create(id.verbs, &attr, true);
    if (pair == nullptr)
        return errno != 0 ? errno : ENOMEM;
    if (const int error = make_initial(id, pair); error != 0) {
        ibv_destroy_qp(pair);
        return error;
    }
    id.pd = pair->pd;
    id.qp = pair;
    return 0;
}

int create(Id& id, ibv_qp_init_attr_ex& attr) {
    if (id.verbs == nullptr || id.qp != nullptr)
        return EINVAL;
    if ((attr.comp_mask & IBV_QP_INIT_ATTR_PD) != 0 && attr.pd != nullptr &&
        attr.pd->context != id.verbs)
        return EINVAL;
    int error = make_queues(id, attr);
    if (error == 0)
        error = create_pair(id, attr);
    if (error != 0)
        destroy_queues(id);
    return error;
}

int create_locked(rdma_cm_id* handle, ibv_qp_init_attr_ex* attr) {
    const auto id = Id::of(handle);
    if (id == nullptr || attr == nullptr)
        return EINVAL;
    const Turn turn(id);
    return create(*id, *attr);
}

// The two structures begin alike; the second has more behind.
ibv_qp_init_attr_ex extended(const ibv_qp_init_attr& attr, ibv_pd* pd) {
    ibv_qp_init_attr_ex out{};
    out.qp_context = attr.qp_context;
    out.send_cq = attr.send_cq;
    out.recv_cq = attr.recv_cq;
    out.srq = attr.srq;
    out.cap = attr.cap;
    out.qp_type = attr.qp_type;
    out.sq_sig_all = attr.sq_sig_all;
    out.comp_mask = IBV_QP_INIT_ATTR_PD;
    out.pd = pd;
    return out;
}

void give_back(const ibv_qp_init_attr_ex& from, ibv_qp_init_attr& to) {
    to.send_cq = from.send_cq;
    to.recv_cq = from.recv_cq;
    to.srq = from.srq;
    to.cap = from.cap;
}

void destroy_queue(ibv_comp_channel*& channel, ibv_cq*& queue) {
    if (queue != nullptr)
        ibv_destroy_cq(std::exchange(queue, nullptr));
    if (channel != nullptr)
        ibv_destroy_comp_channel(std::exchange(channel, nullptr));
}

}  // namespace

void destroy_queues(Id& id) {
    if (id.send_cq == id.recv_cq)
        id.send_cq = nullptr;
    if (id.send_cq_channel == id.recv_cq_channel)
        id.send_cq_channel = nullptr;
    destroy_queue(id.recv_cq_channel, id.recv_cq);
    destroy_queue(id.send_cq_channel, id.send_cq);
}

}  // namespace fabric::cm

using namespace fabric::cm;

RDMACM_API int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* qp_init_attr) {
    return result(create_locked(id, qp_init_attr));
}

RDMACM_API int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* qp_init_attr) {
    if (qp_init_attr == nullptr)
        return result(EINVAL);
    auto attr = extended(*qp_init_attr, pd);
    const int error = create_locked(id, &attr);
    give_back(attr, *qp_init_attr);
    return result(error);
}

RDMACM_API void rdma_destroy_qp(rdma_cm_id* id) {
    const auto target = Id::of(id);
    if (target == nullptr)
        return;
    const Turn turn(target);
    if (target->qp != nullptr)
        ibv_destroy_qp(std::exchange(target->qp, nullptr));
    destroy_queues(*target);
}

RDMACM_API int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* qp_attr, int* qp_attr_mask) {
    const auto target = Id::of(id);
    if (target == nullptr || qp_attr == nullptr || qp_attr_mask == nullptr)
        return result(EINVAL);
    const Turn turn(target);
    if (target->verbs == nullptr)
        return result(EINVAL);
    return result(fill_attributes(*target, *qp_attr, *qp_attr_mask));
}
