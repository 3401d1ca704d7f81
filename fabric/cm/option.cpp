// SPDX-License-Identifier: BSD-3-Clause
// rdma_set_option and the vendor options of connection establishment.
#include <cerrno>
#include <cstring>

#include "cm/api.hpp"
#include "cm/id.hpp"
#include "cm/route.hpp"

namespace fabric::cm {
namespace {

template <typename Value>
int read(const void* from, std::size_t size, Value& out) {
    if (from == nullptr || size != sizeof out)
        return EINVAL;
    std::memcpy(&out, from, sizeof out);
    return 0;
}

int read_flag(const void* from, std::size_t size, bool& out) {
    int value = 0;
    const int error = read(from, size, value);
    if (error == 0)
        out = value != 0;
    return error;
}

int set_ack_timeout(Id& id, const void* value, std::size_t size) {
    std::uint8_t code = 0;
    if (const int error = read(value, size, code); error != 0)
        return error;
    if (code > 31 || !id.connected_type())
        return EINVAL;
    id.options.ack_timeout = code;
    return 0;
}

int set_id_option(Id& id, int name, const void* value, std::size_t size) {
    switch (name) {
        case RDMA_OPTION_ID_TOS:
            return read(value, size, id.options.traffic_class);
        case RDMA_OPTION_ID_REUSEADDR: {
            bool always_so = true;  // a port is free as soon as nobody listens on it
            return read_flag(value, size, always_so);
        }
        case RDMA_OPTION_ID_AFONLY:
            return id.state > State::Bound ? EINVAL
                                           : read_flag(value, size, id.options.only_family);
        case RDMA_OPTION_ID_ACK_TIMEOUT:
            return set_ack_timeout(id, value, size);
        default:
            return ENOSYS;
    }
}

// There is one path between two addresses, so what is given is taken as the answer of a resolution.
int set_path(Id& id, const void* value, std::size_t size) {
    if (value == nullptr || size == 0 || size % sizeof(ibv_path_data) != 0 ||
        id.state != State::AddressResolved)
        return EINVAL;
    fill_path(id);
    id.state = State::RouteResolved;
    id.notify(std::make_unique<Event>(RDMA_CM_EVENT_ROUTE_RESOLVED, 0));
    return 0;
}

int set(Id& id, int level, int name, const void* value, std::size_t size) {
    if (level == RDMA_OPTION_ID)
        return set_id_option(id, name, value, size);
    if (level == RDMA_OPTION_IB && name == RDMA_OPTION_IB_PATH)
        return set_path(id, value, size);
    return ENOSYS;
}

}  // namespace
}  // namespace fabric::cm

using namespace fabric::cm;

RDMACM_API int rdma_set_option(rdma_cm_id* id, int level, int optname, void* optval,
                               size_t optlen) {
    const auto target = Id::of(id);
    if (target == nullptr)
        return result(EINVAL);
    const Turn turn(target);
    return result(set(*target, level, optname, optval, optlen));
}

RDMACM_API int rdma_set_local_ece(rdma_cm_id* id, ibv_ece* ece) {
    const auto target = Id::of(id);
    if (target == nullptr || ece == nullptr || id->qp != nullptr)
        return result(EINVAL);
    const Turn turn(target);
    target->terms.local_ece = *ece;
    return 0;
}

RDMACM_API int rdma_get_remote_ece(rdma_cm_id* id, ibv_ece* ece) {
    const auto target = Id::of(id);
    if (target == nullptr || ece == nullptr || id->qp != nullptr)
        return result(EINVAL);
    const Turn turn(target);
    *ece = target->terms.remote_ece;
    return 0;
}
