// SPDX-License-Identifier: BSD-3-Clause
// Asks the target's CPU to make a range of its memory durable. The answer is the same message.
#pragma once

#include <endian.h>

#include <cstdint>

#include "layout.hpp"

namespace perf {

struct PersistMessage {
    std::uint64_t offset;  // little endian, both
    std::uint64_t length;
};
static_assert(sizeof(PersistMessage) == kPersistMessage);

inline PersistMessage make_persist_message(std::uint64_t offset, std::uint64_t length) {
    return {htole64(offset), htole64(length)};
}

}  // namespace perf
