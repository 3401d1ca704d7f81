// SPDX-License-Identifier: BSD-3-Clause
// From the scatter/gather list of a work request to checked pieces of registered memory.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>

#include "memory/region.hpp"
#include "rc/endpoint.hpp"

namespace fabric::rc {

// The bytes [offset, offset + length) of what the list names.
struct Piece {
    std::span<const ibv_sge> sges;
    std::uint64_t offset;
    std::uint64_t length;
};

// Fills `out` and returns true if every key involved grants `access` (0: reading) on its part and
// the list is long enough. Elements of length 0 are passed over, their keys are not looked at.
bool resolve(const Piece& piece, const ibv_pd* pd, unsigned access,
             std::span<memory::Segment, kMaxSge> out, std::uint32_t& count);

std::uint64_t total_length(std::span<const ibv_sge> sges);

}  // namespace fabric::rc
