// SPDX-License-Identifier: BSD-3-Clause
// The active side's calls, and the opening of its link: rdma_connect, rdma_establish.
#include <cerrno>

#include "cm/answer.hpp"
#include "cm/api.hpp"
#include "cm/control.hpp"
#include "cm/handshake.hpp"
#include "cm/limits.hpp"
#include "cm/param.hpp"
#include "cm/qp_state.hpp"
#include "cm/request.hpp"
#include "faults/plan.hpp"

namespace fabric::cm {
namespace {

// Errors of this process, for the call to report. Everything else is an event, as on a device.
bool is_own_fault(int error) {
    switch (error) {
        case EMFILE:
        case ENFILE:
        case ENOMEM:
        case ENOBUFS:
        case EAGAIN:
        case EADDRINUSE:
        case EADDRNOTAVAIL:
            return true;
        default:
            return false;
    }
}

int open_link(Id& id) {
    id.control = std::make_shared<Control>(id.shared_from_this());
    const int error = carrier::connect(id.route.addr.src_storage, id.route.addr.dst_storage,
                                       id.control, &id.link);
    id.reservation.release();
    return error;
}

void wait_for_link(Id& id, int error) {
    id.arm(kAnswerTime, [](Id& target) { on_link_lost(target, ETIMEDOUT); });
    if (error != 0)
        id.later([self = id.shared_from_this(), error] { on_link_lost(*self, error); });
}

int connect_under_strand(Id& id, const rdma_conn_param* given) {
    if (!id.connected_type())
        return EOPNOTSUPP;
    if (id.state != State::RouteResolved)
        return EINVAL;
    if (const int error = check(id, given, wire::kCmRequestUserBytes); error != 0)
        return error;
    const rdma_conn_param param = given != nullptr ? *given : defaults();
    write_request(id, param);
    const bool unreachable = faults::meets(faults::Kind::Unreachable) != nullptr;
    const int error = unreachable ? ETIMEDOUT : open_link(id);
    if (is_own_fault(error)) {
        id.drop_link();
        return error;
    }
    id.state = State::Opening;
    wait_for_link(id, error);
    return 0;
}

int establish(Id& id) {
    if (id.qp != nullptr || id.state != State::ReplyReceived)
        return EINVAL;
    send_ready(id);
    id.disarm();
    id.state = State::Established;
    attach_link(id);
    return 0;
}

}  // namespace

void on_link_up(Id& id) {
    if (id.state != State::Opening)
        return;
    if (port_of(id.route.addr.src_storage) == 0)
        set_source_port(id, port_of(id.link->local_address()));
    id.state = State::RequestSent;
    id.send(id.request);
}

bool open_again(Id& id) {
    if (id.refusals >= kRefusedPauses.size())
        return false;
    id.drop_link();
    id.arm(kRefusedPauses[id.refusals++],
           [](Id& target) { wait_for_link(target, open_link(target)); });
    return true;
}

}  // namespace fabric::cm

using namespace fabric::cm;

RDMACM_API int rdma_connect(rdma_cm_id* id, rdma_conn_param* conn_param) {
    const auto target = Id::of(id);
    if (target == nullptr)
        return result(EINVAL);
    {
        const Turn turn(target);
        if (const int error = connect_under_strand(*target, conn_param); error != 0)
            return result(error);
    }
    return result(complete(*target));
}

RDMACM_API int rdma_establish(rdma_cm_id* id) {
    const auto target = Id::of(id);
    if (target == nullptr)
        return result(EINVAL);
    const Turn turn(target);
    return result(establish(*target));
}
