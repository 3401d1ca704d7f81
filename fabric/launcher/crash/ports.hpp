// SPDX-License-Identifier: BSD-3-Clause
// TCP ports of this machine.
#pragma once

#include <cstdint>

namespace launcher::crash {

// A port that nobody uses now, below those that the kernel gives out by itself; never the same one
// twice.
std::uint16_t free_port();

// Somebody listens on it.
bool listened_on(std::uint16_t port);

}  // namespace launcher::crash
