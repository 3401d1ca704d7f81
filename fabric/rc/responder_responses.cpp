// SPDX-License-Identifier: BSD-3-Clause
// What the responder sends: responses and acknowledgements in PSN order, and the NAK that ends a
// failed connection.
#include <algorithm>

#include "memory/table.hpp"
#include "rc/psn.hpp"
#include "rc/request_packet.hpp"
#include "rc/responder.hpp"
#include "rc/syndrome.hpp"

namespace fabric::rc {

using wire::Opcode;

namespace {

Opcode read_response_opcode(const Response& read) {
    const bool first = read.sent == read.begin;
    if (read.sent + 1 == read.psn_count) {
        return first ? Opcode::ReadResponseOnly : Opcode::ReadResponseLast;
    }
    return first ? Opcode::ReadResponseFirst : Opcode::ReadResponseMiddle;
}

}  // namespace

Responder::LastWord Responder::last_word(Fault fault) {
    switch (fault) {
        case Fault::RemoteAccess:
            return {kNakRemoteAccess, IBV_WC_LOC_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR};
        case Fault::TooLong:
            return {kNakInvalidRequest, IBV_WC_LOC_LEN_ERR, std::nullopt};
        case Fault::LocalProtection:
            return {kNakRemoteOperation, IBV_WC_LOC_PROT_ERR, std::nullopt};
        case Fault::Operation:
            return {kNakRemoteOperation, IBV_WC_LOC_QP_OP_ERR, IBV_EVENT_QP_FATAL};
        default:
            return {kNakInvalidRequest, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR};
    }
}

bool Responder::next(OutPacket& out, bool hurry) {
    if (Response* const response = responses_.next_pending(); response != nullptr) {
        if (build(*response, out)) {
            return true;
        }
    }
    if (nak_) {
        build_acknowledge(nak_->syndrome, nak_->psn, out);
        nak_.reset();
        unacknowledged_ = false;
        ack_due_ = false;
        return true;
    }
    if (!ack_due_ && !(hurry && unacknowledged_)) {
        return false;
    }
    build_acknowledge(kAckNoCredits, psn_add(expected_psn_, wire::kPsnMask), out);
    unacknowledged_ = false;
    ack_due_ = false;
    return true;
}

// False: the memory of a read is gone; the NAK for it is next.
bool Responder::build(Response& response, OutPacket& out) {
    if (response.kind == Response::Kind::Read) {
        return build_read(response, out);
    }
    const bool atomic = response.kind == Response::Kind::Atomic;
    start_packet(atomic ? Opcode::AtomicAcknowledge : Opcode::ReadResponseOnly, response.psn, out);
    out.header.original = response.original;
    responses_.sent(response);
    seal(out);
    return true;
}

bool Responder::build_read(Response& response, OutPacket& out) {
    const std::uint32_t mtu = context_.attributes.path_mtu;
    const std::uint64_t offset = std::uint64_t{response.sent} * mtu;
    const auto bytes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(mtu, response.length - offset));
    const std::uint32_t psn = psn_add(response.psn, response.sent);
    start_packet(read_response_opcode(response), psn, out);
    if (bytes != 0) {
        const auto segment = memory::Table::instance().find(response.rkey, context_.host.pd(),
                                                            response.address + offset, bytes,
                                                            IBV_ACCESS_REMOTE_READ);
        if (!segment) {
            fail(Fault::RemoteAccess, psn);
            return false;
        }
        out.segments[0] = *segment;
        out.segment_count = 1;
        out.payload_size = bytes;
    }
    if (++response.sent == response.psn_count) {
        responses_.sent(response);
    }
    seal(out);
    return true;
}

void Responder::build_acknowledge(std::uint8_t syndrome, std::uint32_t psn, OutPacket& out) const {
    start_packet(Opcode::Acknowledge, psn, out);
    out.header.syndrome = syndrome;
    seal(out);
}

void Responder::start_packet(Opcode opcode, std::uint32_t psn, OutPacket& out) const {
    out.header = {};
    out.header.opcode = opcode;
    out.header.destination_qp = context_.attributes.destination_qp;
    out.header.psn = psn;
    out.header.syndrome = kAckNoCredits;
    out.header.msn = msn_;
    out.payload_size = 0;
    out.segment_count = 0;
}

// Answers a request that is not executed. All but "not ready" are the end of the connection.
void Responder::fail(Fault fault, std::uint32_t psn) {
    if (fault == Fault::NotReady) {
        const std::uint8_t timer = context_.attributes.min_rnr_timer & 0x1fU;
        nak_ = Nak{static_cast<std::uint8_t>(kRnrNak | timer), psn};
        nak_sent_ = true;
        ahead_psn_ = psn;
        return;
    }
    const LastWord word = last_word(fault);
    responses_.drop_from(psn);
    nak_ = Nak{word.syndrome, psn};
    failed_ = true;
    if (has_receive_) {
        complete_failed(word.status);
    }
    if (word.event) {
        context_.host.async_event(*word.event);
    }
    context_.enter_error();
}

}  // namespace fabric::rc
