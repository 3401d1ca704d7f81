// SPDX-License-Identifier: BSD-3-Clause
#include "cm/incoming.hpp"

#include <algorithm>
#include <utility>

#include "cm/control.hpp"
#include "cm/device.hpp"
#include "cm/handshake.hpp"
#include "cm/limits.hpp"
#include "cm/route.hpp"
#include "faults/plan.hpp"
#include "wire/packet.hpp"

namespace fabric::cm {
namespace {

void give_up(Id& id) {
    id.disarm();
    id.state = State::Gone;
    id.drop_link();
}

void reject(Id& id, std::uint16_t reason) {
    id.send(wire::CmReject{
        .remote_id = id.terms.remote_id, .reason = reason, .info = {}, .private_data = {}});
}

void reject_and_give_up(Id& id, std::uint16_t reason) {
    reject(id, reason);
    give_up(id);
}

// The largest MTU acceptable is told, and the peer may ask again over the same link.
void reject_mtu(Id& id) {
    wire::CmReject message{.remote_id = id.terms.remote_id,
                           .info_length = 1,
                           .reason = wire::kCmInvalidMtu,
                           .info = {},
                           .private_data = {}};
    message.info[0] = static_cast<std::byte>(Device::mtu_code());
    id.send(message);
}

// As the receiver sees it, the sender's two depths change places.
void take_terms(Id& id, const wire::CmRequest& message) {
    id.terms.local_id = new_local_id();
    id.terms.local_psn = random_number() & wire::kPsnMask;
    id.terms.remote_qp = message.qp_number;
    id.terms.remote_psn = message.starting_psn;
    id.terms.mtu_code = message.mtu_code;
    id.terms.responder_resources = message.initiator_depth;
    id.terms.initiator_depth = message.responder_resources;
    id.terms.retry_count = message.retry_count;
    id.terms.rnr_retry_count = message.rnr_retry_count;
    id.terms.remote_ece = {
        .vendor_id = message.ece.vendor, .options = message.ece.options, .comp_mask = 0};
}

void take_addresses(Id& id, std::uint16_t peer_port) {
    id.route.addr.src_storage = unmapped(id.link->local_address());
    id.route.addr.dst_storage = unmapped(id.link->peer_address());
    set_port(id.route.addr.dst_storage, peer_port);
    fill_gids(id);
    fill_path(id);
}

std::unique_ptr<Event> request_event(const wire::CmRequest& message) {
    auto event = std::make_unique<Event>(RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    event->set_private_data(std::span(message.private_data).subspan<wire::kCmIpHeaderBytes>());
    rdma_conn_param& param = event->param.conn;
    param.responder_resources = message.initiator_depth;
    param.initiator_depth = message.responder_resources;
    param.flow_control = message.flow_control ? 1 : 0;
    param.retry_count = message.retry_count;
    param.rnr_retry_count = message.rnr_retry_count;
    param.srq = message.shared_receive_queue ? 1 : 0;
    param.qp_num = message.qp_number;
    return event;
}

// Under the listening id's strand.
void admit(Id& listening, const std::shared_ptr<Id>& fresh, const wire::CmRequest& message) {
    if (listening.state != State::Listening) {
        refuse(fresh, wire::kCmInvalidServiceId);
        return;
    }
    if (listening.backlog.load() <= 0 || faults::meets(faults::Kind::Reject) != nullptr) {
        refuse(fresh, wire::kCmConsumerReject);
        return;
    }
    listening.backlog.fetch_sub(1);
    auto event = request_event(message);
    event->id = fresh.get();
    event->listen_id = &listening;
    event->fresh = fresh;
    listening.notify(std::move(event));
}

void submit(Id& id, const wire::CmRequest& message) {
    const auto listening = id.listening.lock();
    if (listening == nullptr) {
        reject_and_give_up(id, wire::kCmInvalidServiceId);
        return;
    }
    id.state = State::RequestReceived;
    id.send(wire::CmMessageReceipt{.local_id = id.terms.local_id,
                                   .remote_id = id.terms.remote_id,
                                   .service_timeout = kServiceTimeoutCode});
    listening->later(
        [listening, fresh = id.shared_from_this(), message] { admit(*listening, fresh, message); });
}

}  // namespace

void receive_link(const std::shared_ptr<Id>& listening, std::shared_ptr<carrier::Link> link) {
    const auto id = std::make_shared<Id>(listening->ps, listening->qp_type);
    id->state = State::Incoming;
    id->listening = listening;
    id->link = std::move(link);
    // Owns the id until the program does; dropped with the link.
    id->control = std::make_shared<Control>(id);
    id->arm(kRequestTime, give_up);
    id->link->set_control(id->control);
}

void on_message(Id& id, std::uint64_t transaction, const wire::CmRequest& message) {
    if (id.state != State::Incoming || id.link == nullptr)
        return;
    const auto header =
        wire::decode_ip_header(std::span(message.private_data).first<wire::kCmIpHeaderBytes>());
    id.terms.transaction = transaction;
    id.terms.remote_id = message.local_id;
    id.route.addr.src_storage = id.link->local_address();
    if (message.service_id != id.service_id() || !header) {
        reject_and_give_up(id, wire::kCmInvalidServiceId);
        return;
    }
    if (message.mtu_code == 0 || message.mtu_code > Device::mtu_code()) {
        reject_mtu(id);
        return;
    }
    if (id.attach_device() != 0) {
        reject_and_give_up(id, wire::kCmConsumerReject);
        return;
    }
    id.disarm();
    take_terms(id, message);
    take_addresses(id, header->source_port);
    submit(id, message);
}

bool adopt(Id& fresh, Id& listening, const std::shared_ptr<Channel>& channel) {
    const std::lock_guard guard(fresh.channel_lock);
    fresh.context = listening.context;
    fresh.synchronous = listening.is_synchronous();
    fresh.events = fresh.synchronous ? Channel::create() : channel;
    if (fresh.events == nullptr)
        return false;
    fresh.channel = fresh.synchronous ? fresh.events->publish() : fresh.events.get();
    fresh.publish();
    return true;
}

void refuse(const std::shared_ptr<Id>& fresh, std::uint16_t reason) {
    fresh->later([fresh, reason] { reject_and_give_up(*fresh, reason); });
}

void refuse_all(const Channel::Events& dropped) {
    for (const auto& event : dropped)
        if (event->fresh != nullptr)
            refuse(event->fresh, wire::kCmConsumerReject);
}

}  // namespace fabric::cm
