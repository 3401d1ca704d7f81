// SPDX-License-Identifier: BSD-3-Clause
// Big-endian fields, one after the other. The caller has checked the length.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fabric::wire {

class Writer {
public:
    explicit Writer(std::byte* at) : at_(at) {}

    template <unsigned kBytes>
    void put(std::uint64_t value) {
        for (unsigned i = kBytes; i-- > 0;) {
            *at_++ = static_cast<std::byte>(value >> (8 * i));
        }
    }

    const std::byte* position() const { return at_; }

private:
    std::byte* at_;
};

class Reader {
public:
    explicit Reader(const std::byte* at) : at_(at) {}

    template <unsigned kBytes>
    std::uint64_t get() {
        std::uint64_t value = 0;
        for (unsigned i = 0; i < kBytes; ++i) {
            value = value << 8 | std::to_integer<std::uint64_t>(*at_++);
        }
        return value;
    }

    std::uint8_t u8() { return static_cast<std::uint8_t>(get<1>()); }
    std::uint16_t u16() { return static_cast<std::uint16_t>(get<2>()); }
    std::uint32_t u24() { return static_cast<std::uint32_t>(get<3>()); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(get<4>()); }
    std::uint64_t u64() { return get<8>(); }

private:
    const std::byte* at_;
};

}  // namespace fabric::wire
