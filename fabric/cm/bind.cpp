// SPDX-License-Identifier: BSD-3-Clause
// rdma_bind_addr and the ports of an id.
#include "cm/bind.hpp"

#include <arpa/inet.h>

#include "cm/api.hpp"

namespace fabric::cm {

int bind_id(Id& id, const sockaddr& address) {
    if (length_of(address) == 0)
        return EINVAL;
    if (id.state != State::Idle)
        return EINVAL;
    sockaddr_storage bound = stored(address);
    if (const int error = id.reservation.reserve(bound, id.options.only_family); error != 0)
        return error;
    if (!is_wildcard(bound)) {
        if (const int error = id.attach_device(); error != 0) {
            id.reservation.release();
            return error;
        }
    }
    id.route.addr.src_storage = bound;
    id.route.addr.addr.ibaddr.sgid = gid_of(bound);
    id.state = State::Bound;
    return 0;
}

}  // namespace fabric::cm

using namespace fabric::cm;

RDMACM_API int rdma_bind_addr(rdma_cm_id* id, sockaddr* addr) {
    const auto target = Id::of(id);
    if (target == nullptr || addr == nullptr)
        return result(EINVAL);
    const Turn turn(target);
    return result(bind_id(*target, *addr));
}

RDMACM_API __be16 rdma_get_src_port(rdma_cm_id* id) {
    return id == nullptr ? __be16{0} : htons(port_of(id->route.addr.src_storage));
}

RDMACM_API __be16 rdma_get_dst_port(rdma_cm_id* id) {
    return id == nullptr ? __be16{0} : htons(port_of(id->route.addr.dst_storage));
}
