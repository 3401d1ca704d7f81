// SPDX-License-Identifier: BSD-3-Clause
// Which process we are: a forked child holds copies of its parent's ids and channels, and must not
// move anything through the descriptors it shares with it.
#pragma once

#include <cstdint>

namespace fabric::cm {

// Thread-safe. Differs between a process and its forked children.
std::uint32_t process_generation();

}  // namespace fabric::cm
