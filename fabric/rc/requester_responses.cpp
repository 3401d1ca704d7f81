// SPDX-License-Identifier: BSD-3-Clause
// What the requester does with acknowledgements and responses (IBTA vol. 1, 9.7.6).
#include <algorithm>
#include <cstring>

#include "memory/placement.hpp"
#include "rc/psn.hpp"
#include "rc/requester.hpp"
#include "rc/scatter_gather.hpp"
#include "rc/syndrome.hpp"

namespace fabric::rc {

using wire::Opcode;

// Relative to what is in flight. Beyond: this PSN was never sent.
Requester::Position Requester::position(std::uint32_t psn) const {
    if (psn_distance(unacknowledged_, psn) < psn_distance(unacknowledged_, sent_end_)) {
        return Position::Current;
    }
    return psn_before(psn, unacknowledged_) ? Position::Old : Position::Beyond;
}

bool Requester::begin(const wire::Header& header, std::uint32_t payload) {
    if (!context_.sending()) {
        return true;
    }
    const Position where = position(header.psn);
    if (where != Position::Current) {
        return where == Position::Old;  // duplicates of what was answered before mean nothing
    }
    if (header.opcode == Opcode::Acknowledge) {
        return payload == 0 && acknowledge(header);
    }
    if (acknowledge_before(header.psn)) {
        begin_response(header, payload);
    }
    return true;
}

bool Requester::acknowledge(const wire::Header& header) {
    switch (syndrome_class(header.syndrome)) {
        case SyndromeClass::Ack:
            acknowledge_before(psn_add(header.psn, 1));
            return true;
        case SyndromeClass::RnrNak:
            if (acknowledge_before(header.psn)) {
                receiver_not_ready(syndrome_value(header.syndrome));
            }
            return true;
        case SyndromeClass::Nak:
            if (acknowledge_before(header.psn)) {
                not_acknowledged(header);
            }
            return true;
        default:
            return false;
    }
}

void Requester::not_acknowledged(const wire::Header& header) {
    switch (header.syndrome) {
        case kNakSequence:
            lost();
            break;
        case kNakInvalidRequest:
            fail_front(IBV_WC_REM_INV_REQ_ERR);
            break;
        case kNakRemoteAccess:
            fail_front(IBV_WC_REM_ACCESS_ERR);
            break;
        case kNakRemoteOperation:
            fail_front(IBV_WC_REM_OP_ERR);
            break;
        default:
            fail_front(IBV_WC_BAD_RESP_ERR);
    }
}

// The responder has taken in everything before `psn`. False if that cannot be made use of: a
// response is missing (it is asked for again), or the queue pair has failed meanwhile. After true,
// `psn` itself belongs to the front request if it was sent at all.
bool Requester::acknowledge_before(std::uint32_t psn) {
    if (psn == unacknowledged_) {
        return true;
    }
    const std::uint32_t before = unacknowledged_;
    while (queue_.head() < started_) {
        const SendRequest& request = queue_.front();
        const std::uint32_t end = psn_add(request.first_psn, request.psn_count);
        if (has_response(request.kind)) {
            break;
        }
        if (psn_distance(unacknowledged_, end) > psn_distance(unacknowledged_, psn)) {
            unacknowledged_ = psn;
            break;
        }
        unacknowledged_ = end;
        finish_front();
        if (end == psn) {
            break;
        }
    }
    const bool complete = psn == unacknowledged_;
    if (unacknowledged_ != before) {
        progress();
    }
    if (!complete && context_.sending()) {
        lost();
    }
    return complete && context_.sending();
}

void Requester::begin_response(const wire::Header& header, std::uint32_t payload) {
    const SendRequest& request = queue_.front();
    if (!fits(request, header, payload)) {
        fail_front(IBV_WC_BAD_RESP_ERR);
        return;
    }
    if (!aim(request, payload)) {
        fail_front(IBV_WC_LOC_PROT_ERR);
        return;
    }
    inbound_.owner = Inbound::Owner::Requester;
}

bool Requester::fits(const SendRequest& request, const wire::Header& header,
                     std::uint32_t payload) const {
    const bool positive = header.opcode == Opcode::ReadResponseMiddle ||
                          syndrome_class(header.syndrome) == SyndromeClass::Ack;
    if (request.kind == Kind::CompareSwap || request.kind == Kind::FetchAdd) {
        return header.opcode == Opcode::AtomicAcknowledge && payload == 0 && positive;
    }
    if (request.kind == Kind::Flush || request.kind == Kind::AtomicWrite) {
        return header.opcode == Opcode::ReadResponseOnly && payload == 0 && positive;
    }
    if (request.kind != Kind::Read || header.opcode == Opcode::AtomicAcknowledge) {
        return false;
    }
    const bool is_last = request.received + 1 == request.psn_count;
    const bool says_last =
        header.opcode == Opcode::ReadResponseLast || header.opcode == Opcode::ReadResponseOnly;
    const std::uint64_t rest =
        request.length - std::uint64_t{request.received} * context_.attributes.path_mtu;
    return positive && is_last == says_last &&
           payload == std::min<std::uint64_t>(rest, context_.attributes.path_mtu);
}

// Where the payload of a read response goes.
bool Requester::aim(const SendRequest& request, std::uint32_t payload) {
    inbound_.segment_count = 0;
    const std::uint64_t offset = std::uint64_t{request.received} * context_.attributes.path_mtu;
    return resolve({request.sges(), offset, payload}, context_.host.pd(), IBV_ACCESS_LOCAL_WRITE,
                   inbound_.segments, inbound_.segment_count);
}

void Requester::end(bool placed) {
    SendRequest& request = queue_.front();
    const bool atomic = request.kind == Kind::CompareSwap || request.kind == Kind::FetchAdd;
    if (!placed || (atomic && !store_original(request))) {
        fail_front(IBV_WC_LOC_PROT_ERR);
        return;
    }
    ++request.received;
    unacknowledged_ = psn_add(inbound_.header.psn, 1);
    if (request.received == request.psn_count) {
        finish_front();
    }
    progress();
}

bool Requester::store_original(const SendRequest& request) {
    std::array<std::byte, sizeof(std::uint64_t)> value;
    std::memcpy(value.data(), &inbound_.header.original, value.size());
    return aim(request, value.size()) && memory::copy(inbound_.target(), 0, value);
}

}  // namespace fabric::rc
