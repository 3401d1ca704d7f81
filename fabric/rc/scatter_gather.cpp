// SPDX-License-Identifier: BSD-3-Clause
#include "rc/scatter_gather.hpp"

#include <algorithm>

#include "memory/table.hpp"

namespace fabric::rc {

bool resolve(const Piece& piece, const ibv_pd* pd, unsigned access,
             std::span<memory::Segment, kMaxSge> out, std::uint32_t& count) {
    const memory::Table& table = memory::Table::instance();
    std::uint64_t skip = piece.offset;
    std::uint64_t rest = piece.length;
    count = 0;
    for (const ibv_sge& sge : piece.sges) {
        if (rest == 0) {
            break;
        }
        if (skip >= sge.length) {
            skip -= sge.length;
            continue;
        }
        const std::uint64_t bytes = std::min<std::uint64_t>(sge.length - skip, rest);
        const auto segment = table.find(sge.lkey, pd, sge.addr + skip, bytes, access);
        if (!segment) {
            return false;
        }
        out[count++] = *segment;
        rest -= bytes;
        skip = 0;
    }
    return rest == 0;
}

std::uint64_t total_length(std::span<const ibv_sge> sges) {
    std::uint64_t total = 0;
    for (const ibv_sge& sge : sges) {
        total += sge.length;
    }
    return total;
}

}  // namespace fabric::rc
