// SPDX-License-Identifier: BSD-3-Clause
// rdma_create_srq(_ex), rdma_destroy_srq.
#include <cerrno>
#include <utility>

#include "cm/api.hpp"
#include "cm/id.hpp"
#include "cm/queue_pair.hpp"

namespace fabric::cm {
namespace {

int create(Id& id, ibv_srq_init_attr_ex& attr) {
    if (id.verbs == nullptr || id.srq != nullptr || (attr.comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0)
        return EINVAL;
    if (attr.srq_type != IBV_SRQT_BASIC)
        return EOPNOTSUPP;
    if ((attr.comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0 || attr.pd == nullptr) {
        attr.pd = id.pd;
        attr.comp_mask |= IBV_SRQ_INIT_ATTR_PD;
    }
    ibv_srq_init_attr basic{.srq_context = attr.srq_context, .attr = attr.attr};
    id.srq = ibv_create_srq(attr.pd, &basic);
    if (id.srq == nullptr)
        return errno;
    attr.attr = basic.attr;
    return 0;
}

}  // namespace
}  // namespace fabric::cm

using namespace fabric::cm;

RDMACM_API int rdma_create_srq_ex(rdma_cm_id* id, ibv_srq_init_attr_ex* attr) {
    const auto target = Id::of(id);
    if (target == nullptr || attr == nullptr)
        return result(EINVAL);
    const Turn turn(target);
    return result(create(*target, *attr));
}

RDMACM_API int rdma_create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* attr) {
    if (attr == nullptr)
        return result(EINVAL);
    ibv_srq_init_attr_ex extended{};
    extended.srq_context = attr->srq_context;
    extended.attr = attr->attr;
    extended.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
    extended.srq_type = IBV_SRQT_BASIC;
    extended.pd = pd;
    const int outcome = rdma_create_srq_ex(id, &extended);
    if (outcome == 0)
        attr->attr = extended.attr;
    return outcome;
}

RDMACM_API void rdma_destroy_srq(rdma_cm_id* id) {
    const auto target = Id::of(id);
    if (target == nullptr)
        return;
    const Turn turn(target);
    if (target->srq != nullptr)
        ibv_destroy_srq(std::exchange(target->srq, nullptr));
    destroy_queues(*target);
}
