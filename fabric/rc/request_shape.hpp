// SPDX-License-Identifier: BSD-3-Clause
// What the opcode of a request says about its place in a message.
#pragma once

#include "wire/packet.hpp"

namespace fabric::rc {

constexpr bool is_response(wire::Opcode opcode) {
    return opcode >= wire::Opcode::ReadResponseFirst && opcode <= wire::Opcode::AtomicAcknowledge;
}

constexpr bool is_send(wire::Opcode opcode) {
    return opcode <= wire::Opcode::SendOnlyImm || opcode == wire::Opcode::SendLastInvalidate ||
           opcode == wire::Opcode::SendOnlyInvalidate;
}

constexpr bool is_write(wire::Opcode opcode) {
    return opcode >= wire::Opcode::WriteFirst && opcode <= wire::Opcode::WriteOnlyImm;
}

constexpr bool has_immediate(wire::Opcode opcode) {
    return opcode == wire::Opcode::SendLastImm || opcode == wire::Opcode::SendOnlyImm ||
           opcode == wire::Opcode::WriteLastImm || opcode == wire::Opcode::WriteOnlyImm;
}

constexpr bool has_invalidate(wire::Opcode opcode) {
    return opcode == wire::Opcode::SendLastInvalidate || opcode == wire::Opcode::SendOnlyInvalidate;
}

// The first packet of a send or write, which may also be its only one.
constexpr bool starts(wire::Opcode opcode) {
    switch (opcode) {
        case wire::Opcode::SendFirst:
        case wire::Opcode::SendOnly:
        case wire::Opcode::SendOnlyImm:
        case wire::Opcode::SendOnlyInvalidate:
        case wire::Opcode::WriteFirst:
        case wire::Opcode::WriteOnly:
        case wire::Opcode::WriteOnlyImm:
            return true;
        default:
            return false;
    }
}

// More packets of the same send or write follow.
constexpr bool goes_on(wire::Opcode opcode) {
    switch (opcode) {
        case wire::Opcode::SendFirst:
        case wire::Opcode::SendMiddle:
        case wire::Opcode::WriteFirst:
        case wire::Opcode::WriteMiddle:
            return true;
        default:
            return false;
    }
}

// Payload of a send or write packet: a full MTU if more follows; at least a byte if it is not the
// first, at most an MTU.
constexpr bool payload_fits(wire::Opcode opcode, std::uint32_t payload, std::uint32_t mtu) {
    if (goes_on(opcode)) {
        return payload == mtu;
    }
    return payload <= mtu && (starts(opcode) || payload > 0);
}

}  // namespace fabric::rc
