// SPDX-License-Identifier: BSD-3-Clause
// Multicast needs unreliable datagrams, which the device does not have. The answers are those of
// such a device: connected ids may never join, and nothing was joined that could be left.
#include "cm/api.hpp"
#include "cm/id.hpp"

using namespace fabric::cm;

namespace {

int join(rdma_cm_id* id, const sockaddr* address) {
    const auto target = Id::of(id);
    if (target == nullptr || address == nullptr || length_of(*address) == 0 ||
        target->connected_type())
        return EINVAL;
    return EOPNOTSUPP;
}

}  // namespace

RDMACM_API int rdma_join_multicast(rdma_cm_id* id, sockaddr* addr, void* /*context*/) {
    return result(join(id, addr));
}

RDMACM_API int rdma_join_multicast_ex(rdma_cm_id* id, rdma_cm_join_mc_attr_ex* mc_join_attr,
                                      void* /*context*/) {
    return result(mc_join_attr == nullptr ? EINVAL : join(id, mc_join_attr->addr));
}

RDMACM_API int rdma_leave_multicast(rdma_cm_id* id, sockaddr* addr) {
    const auto target = Id::of(id);
    if (target == nullptr || addr == nullptr || length_of(*addr) == 0)
        return result(EINVAL);
    return result(EADDRNOTAVAIL);
}
