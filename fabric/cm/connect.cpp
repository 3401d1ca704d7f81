// SPDX-License-Identifier: BSD-3-Clause
// The active side: rdma_connect, rdma_establish, and the answers to the request.
#include <algorithm>
#include <cerrno>

#include "cm/api.hpp"
#include "cm/control.hpp"
#include "cm/device.hpp"
#include "cm/handshake.hpp"
#include "cm/limits.hpp"
#include "cm/param.hpp"
#include "cm/qp_state.hpp"
#include "cm/route.hpp"
#include "wire/packet.hpp"

namespace fabric::cm {
namespace {

void agree(Id& id, const rdma_conn_param& param) {
    const Device& device = *Device::get();
    Terms& terms = id.terms;
    terms.local_id = new_local_id();
    terms.transaction = static_cast<std::uint64_t>(random_number()) << 32 | terms.local_id;
    terms.local_qp = queue_pair_number(id, param);
    terms.local_psn = random_number() & wire::kPsnMask;
    terms.mtu_code = Device::mtu_code();
    terms.responder_resources = param.responder_resources == RDMA_MAX_RESP_RES
                                    ? device.max_responder_resources()
                                    : param.responder_resources;
    terms.initiator_depth = param.initiator_depth == RDMA_MAX_INIT_DEPTH
                                ? device.max_initiator_depth()
                                : param.initiator_depth;
    terms.retry_count = param.retry_count & 7;
    terms.rnr_retry_wish = param.rnr_retry_count & 7;
}

void fill_gids(wire::CmRequest& request, const Id& id) {
    const rdma_ib_addr& gids = id.route.addr.addr.ibaddr;
    std::copy_n(reinterpret_cast<const std::byte*>(gids.sgid.raw), 16, request.local_gid.begin());
    std::copy_n(reinterpret_cast<const std::byte*>(gids.dgid.raw), 16, request.remote_gid.begin());
}

void fill_ip_header(wire::CmRequest& request, const Id& id) {
    wire::CmIpHeader header;
    header.ipv6 = id.route.addr.src_storage.ss_family == AF_INET6;
    header.source_port = port_of(id.route.addr.src_storage);
    header.source = request.local_gid;
    header.destination = request.remote_gid;
    if (!header.ipv6) {
        std::fill_n(header.source.begin(), 12, std::byte{0});
        std::fill_n(header.destination.begin(), 12, std::byte{0});
    }
    wire::encode_ip_header(header, std::span(request.private_data).first<wire::kCmIpHeaderBytes>());
}

std::uint64_t requested_service(const Id& id) {
    return (static_cast<std::uint64_t>(id.ps) << 16) + port_of(id.route.addr.dst_storage);
}

void write_request(Id& id, const rdma_conn_param& param) {
    wire::CmRequest request;
    request.local_id = id.terms.local_id;
    request.service_id = requested_service(id);
    request.ca_guid = Device::get()->guid();
    request.qp_number = id.terms.local_qp;
    request.responder_resources = id.terms.responder_resources;
    request.initiator_depth = id.terms.initiator_depth;
    request.remote_timeout = kResponseTimeoutCode;
    request.local_timeout = kResponseTimeoutCode;
    request.flow_control = param.flow_control != 0;
    request.starting_psn = id.terms.local_psn;
    request.retry_count = id.terms.retry_count;
    request.rnr_retry_count = id.terms.rnr_retry_wish;
    request.max_cm_retries = kMaxCmRetries;
    request.partition_key = kPartitionKey;
    request.mtu_code = id.terms.mtu_code;
    request.shared_receive_queue = shares_receive_queue(id, param);
    request.traffic_class = id.options.traffic_class;
    request.hop_limit = kHopLimit;
    request.packet_rate = id.path.rate;
    request.ack_timeout = kAckTimeoutCode;
    request.ece = {.vendor = id.terms.local_ece.vendor_id, .options = id.terms.local_ece.options};
    fill_gids(request, id);
    fill_ip_header(request, id);
    copy_private_data(param, std::span(request.private_data).subspan<wire::kCmIpHeaderBytes>());
    id.request = request;
}

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

int connect_under_strand(Id& id, const rdma_conn_param* given) {
    if (!id.connected_type())
        return EOPNOTSUPP;
    if (id.state != State::RouteResolved)
        return EINVAL;
    if (const int error = check(id, given, wire::kCmRequestUserBytes); error != 0)
        return error;
    const rdma_conn_param param = given != nullptr ? *given : defaults();
    agree(id, param);
    write_request(id, param);
    const int error = open_link(id);
    if (is_own_fault(error)) {
        id.control->detach();
        id.control = nullptr;
        return error;
    }
    id.state = State::Opening;
    id.arm(kAnswerTime, [](Id& target) { on_link_lost(target, ETIMEDOUT); });
    if (error != 0)
        id.later([self = id.shared_from_this(), error] { on_link_lost(*self, error); });
    return 0;
}

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

void send_ready(Id& id) {
    id.send(wire::CmReadyToUse{.local_id = id.terms.local_id, .remote_id = id.terms.remote_id});
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

int establish(Id& id) {
    if (id.qp != nullptr || id.state != State::ReplyReceived)
        return EINVAL;
    send_ready(id);
    id.disarm();
    id.state = State::Established;
    return 0;
}

}  // namespace

void on_link_up(Id& id) {
    if (id.state != State::Opening)
        return;
    sockaddr_storage& source = id.route.addr.src_storage;
    if (port_of(source) == 0) {
        set_port(source, port_of(id.link->local_address()));
        fill_ip_header(id.request, id);
    }
    id.state = State::RequestSent;
    id.send(id.request);
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
