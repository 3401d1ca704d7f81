// SPDX-License-Identifier: BSD-3-Clause
// rdma_disconnect, the peer's disconnecting, and what follows.
#include <cerrno>

#include "cm/api.hpp"
#include "cm/handshake.hpp"
#include "cm/limits.hpp"
#include "cm/qp_state.hpp"

namespace fabric::cm {
namespace {

void send_request(Id& id) {
    id.send(wire::CmDisconnectRequest{.local_id = id.terms.local_id,
                                      .remote_id = id.terms.remote_id,
                                      .remote_qp_number = id.terms.remote_qp});
}

void wait_out(Id& id) {
    id.state = State::Disconnected;
    id.drop_link();
    id.arm(kTimeWait, [](Id& target) {
        target.notify(std::make_unique<Event>(RDMA_CM_EVENT_TIMEWAIT_EXIT, 0));
    });
}

void send_reply(Id& id) {
    id.send(
        wire::CmDisconnectReply{.local_id = id.terms.local_id, .remote_id = id.terms.remote_id});
}

// To the peer's disconnecting: as with a kernel device, when this side's program does so, too.
void answer(Id& id) {
    send_reply(id);
    wait_out(id);
}

// The queue pair is flushed in any state. Before a connection is made nothing is told to the peer,
// after it is over the call succeeds without effect.
int disconnect(Id& id) {
    if (id.state < State::Opening)
        return EINVAL;
    if (const int error = make_error(id); error != 0)
        return error;
    if (id.state == State::DisconnectAsked)
        answer(id);
    if (id.state != State::Established && id.state != State::ReplySent)
        return 0;
    send_request(id);
    id.state = State::Disconnecting;
    id.arm(kDisconnectTime, [](Id& target) { finish(target, -ETIMEDOUT); });
    return 0;
}

void reject_pending(Id& id, wire::CmAnswered answered, std::uint16_t reason) {
    id.send(wire::CmReject{.local_id = id.terms.local_id,
                           .remote_id = id.terms.remote_id,
                           .answered = answered,
                           .reason = reason,
                           .info = {},
                           .private_data = {}});
}

}  // namespace

void finish(Id& id, int status) {
    const bool told = id.state == State::DisconnectAsked;
    cut_link(id);
    if (!told)
        id.notify(std::make_unique<Event>(RDMA_CM_EVENT_DISCONNECTED, status));
    wait_out(id);
}

void end_connection(Id& id) {
    switch (id.state) {
        case State::RequestSent:
            reject_pending(id, wire::CmAnswered::Other, wire::kCmTimeout);
            break;
        case State::ReplyReceived:
            reject_pending(id, wire::CmAnswered::Reply, wire::kCmConsumerReject);
            break;
        case State::RequestReceived:
            reject_pending(id, wire::CmAnswered::Request, wire::kCmConsumerReject);
            break;
        case State::ReplySent:
        case State::Established:
            send_request(id);
            break;
        case State::DisconnectAsked:
            send_reply(id);
            break;
        default:
            break;
    }
    const bool linked = id.link != nullptr;
    id.drop_link();
    if (linked)
        cut_link(id);
}

void on_message(Id& id, std::uint64_t /*transaction*/, const wire::CmDisconnectRequest& message) {
    if (message.remote_id != id.terms.local_id)
        return;
    if (id.state == State::Disconnecting) {
        send_reply(id);
        finish(id, 0);
    } else if (id.state == State::Established || id.state == State::ReplySent) {
        id.disarm();
        id.state = State::DisconnectAsked;
        cut_link(id);
        id.notify(std::make_unique<Event>(RDMA_CM_EVENT_DISCONNECTED, 0));
    }
}

void on_message(Id& id, std::uint64_t /*transaction*/, const wire::CmDisconnectReply& message) {
    if (id.state == State::Disconnecting && message.remote_id == id.terms.local_id)
        finish(id, 0);
}

}  // namespace fabric::cm

using namespace fabric::cm;

RDMACM_API int rdma_disconnect(rdma_cm_id* id) {
    const auto target = Id::of(id);
    if (target == nullptr)
        return result(EINVAL);
    auto waiting = Waiting::Never;  // where nothing happens, no event will come
    {
        const Turn turn(target);
        if (const int error = disconnect(*target); error != 0)
            return result(error);
        if (target->state == State::Disconnecting)
            waiting = Waiting::AsDescriptor;
    }
    return result(complete(*target, waiting));
}
