// SPDX-License-Identifier: BSD-3-Clause
// Which headers follow the base transport header, by opcode (IBTA vol. 1, table 38; annex A19 for
// FLUSH, ATOMIC WRITE).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/packet.hpp"

namespace fabric::wire {

enum Part : std::uint16_t {
    kBth = 1 << 0,  // set for every opcode that exists
    kDeth = 1 << 1,
    kFeth = 1 << 2,
    kReth = 1 << 3,
    kAtomicEth = 1 << 4,
    kAeth = 1 << 5,
    kAtomicAckEth = 1 << 6,
    kImmDt = 1 << 7,
    kIeth = 1 << 8,
};

// Header chains are at most this table's order: BTH DETH FETH RETH AtomicETH AETH AtomicAckETH
// ImmDt IETH.
inline constexpr std::array<std::uint8_t, 9> kPartBytes = {12, 8, 4, 16, 28, 4, 8, 4, 4};

constexpr std::array<std::uint16_t, 256> make_parts() {
    std::array<std::uint16_t, 256> parts{};
    auto set = [&parts](Opcode opcode, unsigned more) {
        parts[static_cast<std::uint8_t>(opcode)] = static_cast<std::uint16_t>(kBth | more);
    };
    for (Opcode plain : {Opcode::SendFirst, Opcode::SendMiddle, Opcode::SendLast, Opcode::SendOnly,
                         Opcode::WriteMiddle, Opcode::WriteLast, Opcode::ReadResponseMiddle}) {
        set(plain, 0);
    }
    for (Opcode with_imm : {Opcode::SendLastImm, Opcode::SendOnlyImm, Opcode::WriteLastImm}) {
        set(with_imm, kImmDt);
    }
    for (Opcode with_reth :
         {Opcode::WriteFirst, Opcode::WriteOnly, Opcode::ReadRequest, Opcode::AtomicWrite}) {
        set(with_reth, kReth);
    }
    for (Opcode response : {Opcode::ReadResponseFirst, Opcode::ReadResponseLast,
                            Opcode::ReadResponseOnly, Opcode::Acknowledge}) {
        set(response, kAeth);
    }
    set(Opcode::WriteOnlyImm, kReth | kImmDt);
    set(Opcode::AtomicAcknowledge, kAeth | kAtomicAckEth);
    set(Opcode::CompareSwap, kAtomicEth);
    set(Opcode::FetchAdd, kAtomicEth);
    set(Opcode::SendLastInvalidate, kIeth);
    set(Opcode::SendOnlyInvalidate, kIeth);
    set(Opcode::Flush, kFeth | kReth);
    set(Opcode::UdSendOnly, kDeth);
    return parts;
}

inline constexpr std::array<std::uint16_t, 256> kParts = make_parts();

constexpr std::uint16_t parts_of(Opcode opcode) {
    return kParts[static_cast<std::uint8_t>(opcode)];
}

}  // namespace fabric::wire
