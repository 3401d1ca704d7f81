// SPDX-License-Identifier: BSD-3-Clause
#include "vm/scenarios/records.hpp"

#include <algorithm>
#include <array>

#include "common/pattern.hpp"

namespace it {

void make_record(std::span<std::byte> record, std::uint64_t round, std::uint64_t number) {
    fill(record, (round << 40U) + number * kRecordSize);
}

bool is_record(std::span<const std::byte> record, std::uint64_t round, std::uint64_t number) {
    std::array<std::byte, kRecordSize> wanted{};
    make_record(wanted, round, number);
    return std::equal(record.begin(), record.end(), wanted.begin(), wanted.end());
}

}  // namespace it
