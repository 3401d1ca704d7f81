// SPDX-License-Identifier: BSD-3-Clause
// The answers to an active id's request.
#include "cm/answer.hpp"

#include <algorithm>
#include <cerrno>

#include "cm/device.hpp"
#include "cm/handshake.hpp"
#include "cm/limits.hpp"
#include "cm/qp_state.hpp"

namespace fabric::cm {
namespace {

void take_terms(Id& id, const wire::CmReply& message) {
    const Device& device = *Device::get();
    id.terms.remote_id = message.local_id;
    id.terms.remote_qp = message.qp_number;
    id.terms.remote_psn = message.starting_psn;
    id.terms.initiator_depth = std::min(message.responder_resources, device.max_initiator_depth());
    id.terms.responder_resources =
        std::min(message.initiator_depth, device.max_responder_resources());
    id.terms.rnr_retry_count = message.rnr_retry_count;
    id.terms.remote_ece = {
        .vendor_id = message.ece.vendor, .options = message.ece.options, .comp_mask = 0};
}

std::unique_ptr<Event> reply_event(rdma_cm_event_type type, const wire::CmReply& message) {
    auto event = std::make_unique<Event>(type, 0);
    event->set_private_data(message.private_data);
    rdma_conn_param& param = event->param.conn;
    param.responder_resources = message.initiator_depth;
    param.initiator_depth = message.responder_resources;
    param.flow_control = message.flow_control ? 1 : 0;
    param.rnr_retry_count = message.rnr_retry_count;
    param.srq = message.shared_receive_queue ? 1 : 0;
    param.qp_num = message.qp_number;
    return event;
}

// The last message goes out before the queue pair can send anything over the link.
void establish_with_pair(Id& id, const wire::CmReply& message) {
    if (const int error = make_ready(id); error != 0) {
        id.send(wire::CmReject{.local_id = id.terms.local_id,
                               .remote_id = id.terms.remote_id,
                               .answered = wire::CmAnswered::Reply,
                               .reason = wire::kCmConsumerReject,
                               .info = {},
                               .private_data = {}});
        fail(id, RDMA_CM_EVENT_CONNECT_ERROR, -error);
        return;
    }
    send_ready(id);
    id.state = State::Established;
    attach_link(id);
    id.notify(reply_event(RDMA_CM_EVENT_ESTABLISHED, message));
}

bool asks_for_smaller_mtu(const Id& id, const wire::CmReject& message) {
    if (id.state != State::RequestSent || message.reason != wire::kCmInvalidMtu ||
        message.info_length == 0)
        return false;
    const auto code = std::to_integer<std::uint8_t>(message.info[0]);
    return code > 0 && code < id.terms.mtu_code;
}

void ask_again(Id& id, std::uint8_t mtu_code) {
    id.terms.mtu_code = mtu_code;
    id.request.mtu_code = mtu_code;
    ++id.terms.transaction;
    id.send(id.request);
}

}  // namespace

void send_ready(Id& id) {
    id.send(wire::CmReadyToUse{.local_id = id.terms.local_id, .remote_id = id.terms.remote_id});
}

void on_message(Id& id, std::uint64_t /*transaction*/, const wire::CmReply& message) {
    if (id.state != State::RequestSent || message.remote_id != id.terms.local_id)
        return;
    id.disarm();
    take_terms(id, message);
    id.state = State::ReplyReceived;
    if (id.qp != nullptr)
        establish_with_pair(id, message);
    else
        id.notify(reply_event(RDMA_CM_EVENT_CONNECT_RESPONSE, message));
}

void on_message(Id& id, std::uint64_t /*transaction*/, const wire::CmMessageReceipt& message) {
    if (id.state != State::RequestSent || message.remote_id != id.terms.local_id)
        return;
    const auto code = std::min(message.service_timeout, kServiceTimeoutCode);
    const std::chrono::microseconds more{4096ULL * (1ULL << code) / 1000};
    id.arm(std::chrono::duration_cast<std::chrono::milliseconds>(more) + kAnswerTime,
           [](Id& target) { on_link_lost(target, ETIMEDOUT); });
}

void on_message(Id& id, std::uint64_t /*transaction*/, const wire::CmReject& message) {
    const bool asked = id.state == State::RequestSent || id.state == State::ReplyReceived ||
                       id.state == State::ReplySent;
    if (id.state == State::RequestReceived) {
        fail(id, nullptr);  // the peer gave up before the program decided
        return;
    }
    if (!asked || message.remote_id != id.terms.local_id)
        return;
    if (asks_for_smaller_mtu(id, message)) {
        ask_again(id, std::to_integer<std::uint8_t>(message.info[0]));
        return;
    }
    auto event = std::make_unique<Event>(RDMA_CM_EVENT_REJECTED, message.reason);
    event->set_private_data(message.private_data);
    fail(id, std::move(event));
}

}  // namespace fabric::cm
