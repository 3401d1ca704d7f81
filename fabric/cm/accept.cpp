// SPDX-License-Identifier: BSD-3-Clause
// The passive side: rdma_accept, rdma_reject, and the end of the handshake.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cm/api.hpp"
#include "cm/device.hpp"
#include "cm/handshake.hpp"
#include "cm/limits.hpp"
#include "cm/param.hpp"
#include "cm/qp_state.hpp"

namespace fabric::cm {
namespace {

// REJ reason of rdma_reject_ece: vendor options are not supported.
constexpr std::uint16_t kVendorOptions = 35;

// 255 means as much as the peer asked for and the device has.
void agree(Id& id, const rdma_conn_param& param) {
    const Device& device = *Device::get();
    Terms& terms = id.terms;
    terms.local_qp = queue_pair_number(id, param);
    terms.rnr_retry_wish = param.rnr_retry_count & 7;
    terms.responder_resources =
        param.responder_resources == RDMA_MAX_RESP_RES
            ? std::min(terms.responder_resources, device.max_responder_resources())
            : param.responder_resources;
    terms.initiator_depth = param.initiator_depth == RDMA_MAX_INIT_DEPTH
                                ? std::min(terms.initiator_depth, device.max_initiator_depth())
                                : param.initiator_depth;
}

wire::CmReply reply(const Id& id, const rdma_conn_param& param) {
    wire::CmReply message;
    message.local_id = id.terms.local_id;
    message.remote_id = id.terms.remote_id;
    message.ca_guid = Device::get()->guid();
    message.qp_number = id.terms.local_qp;
    message.starting_psn = id.terms.local_psn;
    message.responder_resources = id.terms.responder_resources;
    message.initiator_depth = id.terms.initiator_depth;
    message.ack_delay = kAckTimeoutCode;
    message.flow_control = param.flow_control != 0;
    message.rnr_retry_count = id.terms.rnr_retry_wish;
    message.shared_receive_queue = shares_receive_queue(id, param);
    message.ece = {.vendor = id.terms.local_ece.vendor_id, .options = id.terms.local_ece.options};
    copy_private_data(param, message.private_data);
    return message;
}

// The answer goes out before the queue pair can send anything over the link.
int accept_under_strand(Id& id, const rdma_conn_param* given) {
    if (id.state != State::RequestReceived || id.link == nullptr)
        return EINVAL;
    if (const int error = check(id, given, wire::kCmReplyUserBytes); error != 0)
        return error;
    const rdma_conn_param param = given != nullptr ? *given : defaults();
    agree(id, param);
    if (const int error = make_ready(id); error != 0)
        return error;
    id.send(reply(id, param));
    id.state = State::ReplySent;
    id.accepted = true;
    attach_link(id);
    id.arm(kAnswerTime, [](Id& target) { on_link_lost(target, ETIMEDOUT); });
    return 0;
}

int reject(Id& id, const void* private_data, std::uint8_t size, std::uint16_t reason) {
    if (private_data != nullptr && size > wire::kCmRejectUserBytes)
        return EINVAL;
    const bool passive = id.state == State::RequestReceived;
    if (!passive && id.state != State::ReplyReceived)
        return EINVAL;
    wire::CmReject message{
        .local_id = id.terms.local_id,
        .remote_id = id.terms.remote_id,
        .answered = passive ? wire::CmAnswered::Request : wire::CmAnswered::Reply,
        .reason = reason,
        .info = {},
        .private_data = {}};
    if (private_data != nullptr)
        std::memcpy(message.private_data.data(), private_data, size);
    id.send(message);
    fail(id, nullptr);
    return 0;
}

int reject_with(rdma_cm_id* handle, const void* private_data, std::uint8_t size,
                std::uint16_t reason) {
    const auto id = Id::of(handle);
    if (id == nullptr)
        return EINVAL;
    const Turn turn(id);
    return reject(*id, private_data, size, reason);
}

void tell_established(Id& id) {
    if (id.established_told)
        return;
    id.established_told = true;
    id.notify(std::make_unique<Event>(RDMA_CM_EVENT_ESTABLISHED, 0));
}

// The program saw data before the last message of the handshake came.
int communication_established(Id& id) {
    if (id.state == State::Established)
        return EISCONN;
    if (id.state != State::ReplySent)
        return EINVAL;
    id.disarm();
    id.state = State::Established;
    tell_established(id);
    return 0;
}

}  // namespace

void on_message(Id& id, std::uint64_t /*transaction*/, const wire::CmReadyToUse& message) {
    if (message.remote_id != id.terms.local_id)
        return;
    if (id.state == State::ReplySent) {
        id.disarm();
        id.state = State::Established;
        tell_established(id);
    } else if (id.state == State::Disconnecting && id.accepted) {
        tell_established(id);  // the program disconnected before it heard
    }
}

}  // namespace fabric::cm

using namespace fabric::cm;

RDMACM_API int rdma_accept(rdma_cm_id* id, rdma_conn_param* conn_param) {
    const auto target = Id::of(id);
    if (target == nullptr)
        return result(EINVAL);
    {
        const Turn turn(target);
        if (const int error = accept_under_strand(*target, conn_param); error != 0)
            return result(error);
    }
    return result(complete(*target));
}

RDMACM_API int rdma_reject(rdma_cm_id* id, const void* private_data,
                           std::uint8_t private_data_len) {
    return result(reject_with(id, private_data, private_data_len, fabric::wire::kCmConsumerReject));
}

RDMACM_API int rdma_reject_ece(rdma_cm_id* id, const void* private_data,
                               std::uint8_t private_data_len) {
    return result(reject_with(id, private_data, private_data_len, kVendorOptions));
}

RDMACM_API int rdma_notify(rdma_cm_id* id, ibv_event_type event) {
    const auto target = Id::of(id);
    if (target == nullptr || event != IBV_EVENT_COMM_EST)
        return result(EINVAL);
    const Turn turn(target);
    return result(communication_established(*target));
}
