// SPDX-License-Identifier: BSD-3-Clause
#include "faults/choice.hpp"

namespace fabric::faults {
namespace {

// One step of SplitMix64 (Steele, Lea, Flood 2014): every bit of the input changes half of the
// output's.
std::uint64_t mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

}  // namespace

bool chosen(const When& when, const Counter& counter, std::uint64_t count) {
    if (when.connection != 0 && when.connection != counter.connection)
        return false;
    if (when.first != 0)
        return when.onwards ? count >= when.first : count == when.first;
    const std::uint64_t drawn =
        mix(mix(mix(mix(counter.seed) ^ counter.connection) ^ counter.fault) ^ count);
    return drawn % kAll < when.share;
}

}  // namespace fabric::faults
