// SPDX-License-Identifier: BSD-3-Clause
#include "faults/traffic.hpp"

#include <algorithm>
#include <atomic>

#include "faults/choice.hpp"
#include "rc/psn.hpp"
#include "rc/request_shape.hpp"
#include "trace.hpp"

namespace fabric::faults {
namespace {

using wire::Opcode;

bool is_about_connections(const Fault& fault) {
    return is_of_connection(fault.kind);
}

bool begins_request(Opcode opcode) {
    const bool has_parts = rc::is_send(opcode) || rc::is_write(opcode);
    return !has_parts || rc::starts(opcode);
}

// Needs a receive, and this packet is the one that takes it.
bool takes_receive(Opcode opcode) {
    return rc::is_send(opcode) ? rc::starts(opcode)
                               : rc::is_write(opcode) && rc::has_immediate(opcode);
}

rc::RequestFilter::Answer refusal_of(Answer answer) {
    switch (answer) {
        case Answer::Access:
            return rc::RequestFilter::Answer::RemoteAccess;
        case Answer::Invalid:
            return rc::RequestFilter::Answer::InvalidRequest;
        default:
            return rc::RequestFilter::Answer::Operation;
    }
}

std::uint32_t frame_bytes(const rc::OutPacket& packet, std::uint32_t payload) {
    return static_cast<std::uint32_t>(wire::kFrameLengthBytes) + packet.header_size + payload;
}

}  // namespace

std::unique_ptr<Traffic> Traffic::create() {
    static std::atomic<std::uint64_t> connections{0};
    const Plan* const all = plan();
    if (all == nullptr ||
        std::none_of(all->spec.faults.begin(), all->spec.faults.end(), is_about_connections))
        return nullptr;
    return std::make_unique<Traffic>(*all, connections.fetch_add(1) + 1);
}

bool Traffic::Progress::is_new(std::uint32_t psn) {
    if (newest_ && !rc::psn_before(*newest_, psn))
        return false;
    newest_ = psn;
    return true;
}

void Traffic::restart() {
    sending_.restart();
    receiving_.restart();
    left_.reset();
}

const Fault* Traffic::met(Kind kind, std::uint64_t count) const {
    const auto& all = plan_.spec.faults;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].kind != kind || !chosen(all[i].when, {plan_.seed, connection_, i}, count))
            continue;
        if (trace::event_enabled(LogLevel::Info))
            trace::event(LogLevel::Info, link_, "fault %s number=%llu", name_of(kind),
                         static_cast<unsigned long long>(count));
        return &all[i];
    }
    return nullptr;
}

std::chrono::microseconds Traffic::wait() {
    if (waited_for_ == packets_ + 1)
        return {};
    waited_for_ = packets_ + 1;
    const Fault* const fault = met(Kind::Delay, waited_for_);
    return fault == nullptr ? std::chrono::microseconds{0} : fault->delay;
}

std::uint32_t Traffic::limit(const rc::OutPacket& packet) {
    if (rc::is_response(packet.header.opcode) || !sending_.is_new(packet.header.psn))
        return rc::OutPacket::kWhole;
    ++packets_;
    if (met(Kind::Drop, packets_) != nullptr)
        return 0;
    return rc::is_write(packet.header.opcode) ? cut_write(packet) : rc::OutPacket::kWhole;
}

// Half of the write goes out, however many packets it has.
std::uint32_t Traffic::cut_write(const rc::OutPacket& packet) {
    if (rc::starts(packet.header.opcode)) {
        ++writes_;
        left_.reset();
        if (met(Kind::CutWrite, writes_) != nullptr)
            left_ = packet.header.dma_length / 2;
    }
    if (!left_)
        return rc::OutPacket::kWhole;
    if (packet.header.dma_length == 0 && rc::starts(packet.header.opcode))
        return frame_bytes(packet, 0) / 2;
    if (*left_ <= packet.payload_size)
        return frame_bytes(packet, *left_);
    *left_ -= packet.payload_size;
    return rc::OutPacket::kWhole;
}

rc::RequestFilter::Answer Traffic::answer(const wire::Header& header) {
    if (!receiving_.is_new(header.psn))
        return rc::RequestFilter::Answer::None;
    if (begins_request(header.opcode)) {
        if (const Fault* const fault = met(Kind::Nak, ++requests_); fault != nullptr)
            return refusal_of(fault->answer);
    }
    if (takes_receive(header.opcode) && met(Kind::Rnr, ++receives_) != nullptr)
        return rc::RequestFilter::Answer::NotReady;
    return rc::RequestFilter::Answer::None;
}

}  // namespace fabric::faults
