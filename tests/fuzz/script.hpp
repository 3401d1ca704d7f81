// SPDX-License-Identifier: BSD-3-Clause
// Fuzzer input as a stream of small decisions. At the end it gives zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fabric::fuzz {

class Script {
public:
    explicit Script(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    bool ended() const { return bytes_.empty(); }
    std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
    std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
    std::uint64_t u64() { return number(8); }

private:
    std::uint64_t number(std::size_t width) {
        std::uint64_t value = 0;
        const std::size_t taken = width < bytes_.size() ? width : bytes_.size();
        std::memcpy(&value, bytes_.data(), taken);
        bytes_ = bytes_.subspan(taken);
        return value;
    }

    std::span<const std::uint8_t> bytes_;
};

}  // namespace fabric::fuzz
