// SPDX-License-Identifier: BSD-3-Clause
// What a program hears when a link ends before the connection was made, or without a word.
#include <cerrno>
#include <utility>

#include "cm/handshake.hpp"
#include "cm/qp_state.hpp"

namespace fabric::cm {
namespace {

bool closed_by_peer(int error) {
    return error == 0 || error == ECONNRESET || error == EPIPE || error == ECONNABORTED;
}

bool broken_peer(int error) {
    return error == EPROTO || error == EBADMSG || error == EMSGSIZE;
}

// The kernel reports a missing listener and a dead one as rejections, and silence as unreachable.
void fail_connecting(Id& id, int error) {
    if (error == ECONNREFUSED)
        fail(id, RDMA_CM_EVENT_REJECTED, wire::kCmInvalidServiceId);
    else if (closed_by_peer(error))
        fail(id, RDMA_CM_EVENT_REJECTED, wire::kCmConsumerReject);
    else if (broken_peer(error))
        fail(id, RDMA_CM_EVENT_CONNECT_ERROR, -error);
    else
        fail(id, RDMA_CM_EVENT_UNREACHABLE, -error);
}

}  // namespace

void fail(Id& id, std::unique_ptr<Event> event) {
    id.disarm();
    id.state = State::Failed;
    id.drop_link();
    if (event == nullptr)
        return;
    if (event->event == RDMA_CM_EVENT_REJECTED)
        make_error(id);
    id.notify(std::move(event));
}

void fail(Id& id, rdma_cm_event_type type, int status) {
    fail(id, std::make_unique<Event>(type, status));
}

void on_link_lost(Id& id, int error) {
    switch (id.state) {
        case State::Opening:
            if (error != ECONNREFUSED || !open_again(id))
                fail_connecting(id, error);
            break;
        case State::RequestSent:
        case State::ReplyReceived:
        case State::ReplySent:
            fail_connecting(id, error);
            break;
        case State::Incoming:
            id.disarm();
            id.state = State::Gone;
            id.drop_link();
            break;
        case State::RequestReceived:
            fail(id, nullptr);
            break;
        case State::Established:
        case State::Disconnecting:
        case State::DisconnectAsked:
            finish(id, 0);
            break;
        default:
            break;
    }
}

}  // namespace fabric::cm
