// SPDX-License-Identifier: BSD-3-Clause
// Queue pair numbers, 24 bits.
//
// A queue pair that a program connects by hand is reached with nothing but the peer's GID and this
// number, so the number says where: (TCP port << 8) | index, the port being one this process
// listens on; each port serves 256 queue pairs. Numbers below 1024 << 8 name no such port; queue
// pairs of the connection manager, whose link exists before they do, take theirs there.
#pragma once

#include <cstdint>
#include <optional>

namespace fabric::verbs::qp_numbers {

// All are thread-safe. Nothing: all are in use.
std::optional<std::uint32_t> take_managed();
// 0 or the errno of opening a port.
int take_reachable(std::uint32_t* number);
void give_back(std::uint32_t number);

inline bool is_reachable(std::uint32_t number) {
    return number >= (1024U << 8);
}
inline std::uint16_t port_of(std::uint32_t number) {
    return static_cast<std::uint16_t>(number >> 8);
}

}  // namespace fabric::verbs::qp_numbers
