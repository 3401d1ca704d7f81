// SPDX-License-Identifier: BSD-3-Clause
#include "rc/endpoint.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "rc/context.hpp"
#include "rc/post.hpp"
#include "rc/receive_queue.hpp"
#include "rc/request_shape.hpp"
#include "rc/requester.hpp"
#include "rc/responder.hpp"

namespace fabric::rc {

namespace {

memory::persistence::Kind payload_kind(wire::Opcode opcode) {
    using memory::persistence::Kind;
    if (is_send(opcode)) {
        return Kind::Send;
    }
    return has_immediate(opcode) ? Kind::WriteImm : Kind::Write;
}

}  // namespace

class Endpoint::Impl final : public Context {
public:
    Impl(const Capacity& sizes, Host& around)
        : Context(sizes, around),
          receives(sizes),
          requester(*this, inbound),
          responder(*this, inbound) {}

    void enter_error() override {
        state = IBV_QPS_ERR;
        flush();
        host.state_changed(IBV_QPS_ERR);
    }

    void flush() {
        requester.flush();
        responder.flush();
        inbound.owner = Inbound::Owner::Nobody;
        for (ReceiveRequest request; receives.pop(request);) {
            flush_receive(request.wr_id);
        }
    }

    // The payload of the packet is about to be placed.
    void account() {
        close_account(false);
        if (inbound.segment_count == 0 || inbound.owner == Inbound::Owner::Nobody) {
            return;
        }
        const bool result = inbound.owner == Inbound::Owner::Requester;
        inbound.operation = memory::persistence::placing(
            result ? 0 : attributes.qp_number,
            result ? memory::persistence::Kind::ReadResult : payload_kind(inbound.header.opcode),
            inbound.target());
    }

    // `whole`: all of the payload is where it belongs.
    void close_account(bool whole) {
        if (inbound.operation != nullptr) {
            memory::persistence::placed(std::exchange(inbound.operation, nullptr), whole,
                                        inbound.header.overtakes);
        }
    }

    void end(bool placed) {
        const Inbound::Owner owner = std::exchange(inbound.owner, Inbound::Owner::Nobody);
        if (owner == Inbound::Owner::Requester) {
            requester.end(placed);
        } else if (owner == Inbound::Owner::Responder) {
            responder.end(placed);
        }
    }

    // Apart, so that without an account nothing is kept across a call.
    [[gnu::noinline]] void end_accounted(bool placed) {
        close_account(placed && inbound.owner != Inbound::Owner::Nobody);
        end(placed);
    }

    void flush_receive(std::uint64_t wr_id) {
        Completion completion;
        completion.wc.wr_id = wr_id;
        completion.wc.status = IBV_WC_WR_FLUSH_ERR;
        completion.wc.opcode = IBV_WC_RECV;
        completion.wc.qp_num = attributes.qp_number;
        host.complete(completion);
    }

    void reset() {
        close_account(false);
        requester.clear();
        responder.clear();
        inbound.owner = Inbound::Owner::Nobody;
        receives.clear();
        link_up = true;
        established = false;
    }

    // The first packet of the peer shows that the connection stands, although nobody may have said
    // so yet.
    void note_established() {
        if (state == IBV_QPS_RTR && !established) {
            established = true;
            host.async_event(IBV_EVENT_COMM_EST);
        }
    }

    OwnReceiveQueue receives;
    Inbound inbound;
    Requester requester;
    Responder responder;
    bool request_next = false;  // read responses and requests take turns
    bool established = false;
};

Endpoint::Endpoint(const Capacity& capacity, Host& host)
    : impl_(new (std::nothrow) Impl(capacity, host)) {}

bool Endpoint::valid() const {
    return impl_ != nullptr && impl_->receives.valid() && impl_->requester.valid();
}

Endpoint::~Endpoint() = default;

int Endpoint::post_send(const ibv_send_wr& wr) {
    return impl_->requester.post(wr);
}

int Endpoint::post_native(const NativeRequest& request) {
    return impl_->requester.post(request);
}

int Endpoint::check_send(const ibv_send_wr& wr) const {
    return check(wr, impl_->capacity);
}

int Endpoint::check_native(const NativeRequest& request) {
    return check(request);
}

int Endpoint::post_receive(const ibv_recv_wr& wr) {
    if (impl_->state == IBV_QPS_RESET) {
        return EINVAL;
    }
    if (const int error = impl_->receives.push(wr); error != 0) {
        return error;
    }
    ReceiveRequest request;
    if (impl_->state == IBV_QPS_ERR && impl_->receives.pop(request)) {
        impl_->flush_receive(request.wr_id);
    }
    return 0;
}

ReceiveQueue& Endpoint::own_receive_queue() {
    return impl_->receives;
}

void Endpoint::set_attributes(const Attributes& attributes) {
    impl_->attributes = attributes;
    if (!impl_->sending()) {
        impl_->requester.restart();
    }
    if (!impl_->receiving()) {
        impl_->responder.restart();
    } else {
        impl_->responder.widen();
    }
}

const Attributes& Endpoint::attributes() const {
    return impl_->attributes;
}

void Endpoint::set_state(ibv_qp_state state) {
    const bool was_error = impl_->state == IBV_QPS_ERR;
    impl_->state = state;
    if (state == IBV_QPS_RESET) {
        impl_->reset();
    } else if (state == IBV_QPS_ERR && !was_error) {
        impl_->flush();
    } else {
        impl_->requester.report_drained();
    }
}

ibv_qp_state Endpoint::state() const {
    return impl_->state;
}

std::uint32_t Endpoint::send_room() const {
    return impl_->requester.room();
}

bool Endpoint::send_queue_idle() const {
    return impl_->requester.idle();
}

void Endpoint::acknowledge() {
    impl_->responder.acknowledge();
}

bool Endpoint::send_queue_drained() const {
    return impl_->requester.drained();
}

bool Endpoint::owes_answer() const {
    return impl_->responder.owes_answer();
}

void Endpoint::release_send_slots(std::uint32_t slots) {
    impl_->requester.release_slots(slots);
}

bool Endpoint::next_packet(OutPacket& out) {
    Impl& self = *impl_;
    if (self.request_next && self.requester.next(out)) {
        self.request_next = false;
        return true;
    }
    // An acknowledgement goes before the next request, so that the peer never sees an answer of the
    // program to a message that seems not to have arrived.
    if (self.responder.next(out, self.requester.ready())) {
        self.request_next = out.payload_size != 0;
        return true;
    }
    self.request_next = false;
    return self.requester.next(out);
}

Endpoint::Begin Endpoint::begin(const wire::Header& header, std::size_t payload_bytes) {
    Impl& self = *impl_;
    self.inbound.owner = Inbound::Owner::Nobody;
    self.inbound.segment_count = 0;
    const bool ours = header.destination_qp == self.attributes.qp_number;
    if (!self.receiving()) {
        if (ours && !is_response(header.opcode)) {
            self.responder.drop(header.psn);
        }
        return {};
    }
    if (!ours || payload_bytes > self.attributes.path_mtu) {
        return {{}, true};
    }
    self.note_established();
    self.inbound.header = header;
    self.inbound.payload = static_cast<std::uint32_t>(payload_bytes);
    if (!is_response(header.opcode)) {
        self.responder.begin(header, self.inbound.payload);
    } else if (!self.requester.begin(header, self.inbound.payload)) {
        return {{}, true};
    }
    if (memory::persistence::on()) [[unlikely]] {
        self.account();
    }
    return {self.inbound.owner == Inbound::Owner::Nobody ? memory::Target{} : self.inbound.target(),
            false};
}

void Endpoint::end(bool placed) {
    if (memory::persistence::on()) [[unlikely]] {
        impl_->end_accounted(placed);
    } else {
        impl_->end(placed);
    }
}

void Endpoint::link_lost() {
    impl_->link_up = false;
    impl_->inbound.owner = Inbound::Owner::Nobody;
    impl_->close_account(false);
    impl_->requester.link_lost();
}

void Endpoint::link_renewed() {
    impl_->requester.send_again();
}

bool Endpoint::heard_of_peer() const {
    return impl_->requester.heard_of_peer() || impl_->responder.heard_of_peer();
}

std::optional<TimePoint> Endpoint::deadline() const {
    const auto request = impl_->requester.deadline();
    const auto response = impl_->responder.deadline();
    return request && response ? std::min(request, response) : request ? request : response;
}

void Endpoint::on_time(TimePoint now) {
    set_now(now);
}

void Endpoint::set_now(TimePoint now) {
    impl_->now = now;
    impl_->requester.tick();
    impl_->responder.tick();
}

void Endpoint::set_filter(RequestFilter* filter) {
    impl_->filter = filter;
}

bool Endpoint::request_ready() const {
    return impl_->requester.ready();
}

void Endpoint::hold_requests(TimePoint until) {
    impl_->requester.hold(until);
}

}  // namespace fabric::rc
