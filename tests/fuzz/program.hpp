// SPDX-License-Identifier: BSD-3-Clause
// The victim's own program: posts whatever the script says, right or wrong.
#pragma once

#include <array>
#include <cstdint>

#include "script.hpp"
#include "victim.hpp"

namespace fabric::fuzz {

class Program {
public:
    Program(Script& script, Victim& victim) : script_(script), victim_(victim) {}

    void post_send() {
        std::array<ibv_sge, 5> sges{};
        ibv_send_wr wr{};
        wr.wr_id = ++posted_;
        wr.opcode = static_cast<ibv_wr_opcode>(script_.u8() % 12);
        wr.send_flags = script_.u8() & 15U;
        wr.num_sge = script_.u8() % 6;
        wr.sg_list = sges.data();
        for (int i = 0; i < wr.num_sge; ++i) {
            sges[static_cast<std::size_t>(i)] = element();
            if ((wr.send_flags & IBV_SEND_INLINE) != 0) {
                sges[static_cast<std::size_t>(i)].addr =
                    reinterpret_cast<std::uintptr_t>(victim_.at(kZone));
            }
        }
        const bool atomic =
            wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
        if (atomic && wr.num_sge > 0) {
            sges[0].length = 8;
        }
        victim_.post(wr);
    }

    void post_native() {
        rc::Endpoint::NativeRequest request{};
        request.wr_id = ++posted_;
        request.kind = script_.u8() % 2 == 0 ? rc::Endpoint::NativeRequest::Kind::Flush
                                             : rc::Endpoint::NativeRequest::Kind::AtomicWrite;
        request.send_flags = script_.u8() & 15U;
        request.type = script_.u8() % 5;
        request.level = script_.u8() % 3;
        victim_.post(request);
    }

    void post_receive() {
        std::array<ibv_sge, 5> sges{};
        ibv_recv_wr wr{};
        wr.num_sge = script_.u8() % 6;
        wr.sg_list = sges.data();
        for (int i = 0; i < wr.num_sge; ++i) {
            sges[static_cast<std::size_t>(i)] = element();
        }
        victim_.post(wr);
    }

private:
    ibv_sge element() {
        const bool open = script_.u8() % 2 == 0;
        const memory::Region* const region = open ? victim_.open : victim_.closed;
        const std::size_t zone = open ? kZone : 3 * kZone;
        const auto address =
            reinterpret_cast<std::uintptr_t>(victim_.at(zone)) + script_.u16() % (kMemory + 8);
        return {address, std::uint32_t{script_.u16()} % 900,
                region != nullptr ? region->key : script_.u32()};
    }

    Script& script_;
    Victim& victim_;
    std::uint64_t posted_ = 0;
};

}  // namespace fabric::fuzz
