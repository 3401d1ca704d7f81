// SPDX-License-Identifier: BSD-3-Clause
// Records that fill persistent memory as a ring, and that can be checked after a power cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace it {

inline constexpr std::size_t kRecordSize = 4096;
inline constexpr std::uint64_t kRecordSlots = 4096;
inline constexpr std::size_t kRingSize = kRecordSize * kRecordSlots;
// Records that are written ahead of the last acknowledged one, at most.
inline constexpr std::uint64_t kRecordsInFlight = 4;

// What the writer has acknowledged, as it stands in the file of acknowledgements.
struct Acknowledged {
    std::uint64_t round;
    std::uint64_t number;
};

constexpr std::size_t record_offset(std::uint64_t number) {
    return kRecordSize * (number % kRecordSlots);
}

// Every byte depends on the round, the number and its place.
void make_record(std::span<std::byte> record, std::uint64_t round, std::uint64_t number);
bool is_record(std::span<const std::byte> record, std::uint64_t round, std::uint64_t number);

}  // namespace it
