// SPDX-License-Identifier: BSD-3-Clause
// Both answers are known at once from the host's routing table, so the events are there when the
// calls return. Whether the peer lives shows when connecting.
#include "cm/resolve.hpp"

#include "cm/api.hpp"
#include "cm/bind.hpp"
#include "cm/route.hpp"

namespace fabric::cm {
namespace {

// A port for an id that was not bound to one. If the host has none to give, the connection gets one
// when it is opened.
void take_port(Id& id, sockaddr_storage& source) {
    const auto own = port_of(id.route.addr.src_storage);
    if (id.state == State::Bound)
        set_port(source, own);
    else if (id.reservation.reserve(source, false) != 0)
        set_port(source, 0);
}

int route_to(Id& id, const sockaddr& destination) {
    sockaddr_storage to = stored(destination);
    const sockaddr_storage& own = id.route.addr.src_storage;
    if (id.state == State::Bound && own.ss_family != to.ss_family)
        return EINVAL;
    sockaddr_storage source{};
    if (const int error = choose_source(own, to, source); error != 0)
        return error;
    if (const int error = id.attach_device(); error != 0)
        return error;
    take_port(id, source);
    id.route.addr.src_storage = source;
    id.route.addr.dst_storage = to;
    fill_gids(id);
    return 0;
}

int resolve_under_strand(Id& id, const sockaddr* source, const sockaddr& destination) {
    if (id.state == State::Idle && source != nullptr && source->sa_family != AF_UNSPEC) {
        if (const int error = bind_id(id, *source); error != 0)
            return error;
    }
    if ((id.state != State::Idle && id.state != State::Bound) || length_of(destination) == 0)
        return EINVAL;
    if (const int error = route_to(id, destination); error != 0)
        return error;
    id.state = State::AddressResolved;
    id.notify(std::make_unique<Event>(RDMA_CM_EVENT_ADDR_RESOLVED, 0));
    return 0;
}

int resolve_route_under_strand(Id& id) {
    if (id.state != State::AddressResolved)
        return EINVAL;
    fill_path(id);
    id.state = State::RouteResolved;
    id.notify(std::make_unique<Event>(RDMA_CM_EVENT_ROUTE_RESOLVED, 0));
    return 0;
}

}  // namespace

int resolve_address(const std::shared_ptr<Id>& id, const sockaddr* source,
                    const sockaddr& destination) {
    {
        const Turn turn(id);
        if (const int error = resolve_under_strand(*id, source, destination); error != 0)
            return error;
    }
    return complete(*id);
}

int resolve_route(const std::shared_ptr<Id>& id) {
    {
        const Turn turn(id);
        if (const int error = resolve_route_under_strand(*id); error != 0)
            return error;
    }
    return complete(*id);
}

}  // namespace fabric::cm

using namespace fabric::cm;

RDMACM_API int rdma_resolve_addr(rdma_cm_id* id, sockaddr* src_addr, sockaddr* dst_addr,
                                 int /*timeout_ms*/) {
    const auto target = Id::of(id);
    if (target == nullptr || dst_addr == nullptr)
        return result(EINVAL);
    return result(resolve_address(target, src_addr, *dst_addr));
}

RDMACM_API int rdma_resolve_route(rdma_cm_id* id, int /*timeout_ms*/) {
    const auto target = Id::of(id);
    return result(target == nullptr ? EINVAL : resolve_route(target));
}
