// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a packet: decoding never reads beyond them, and what was understood encodes to the
// same meaning.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "wire/packet.hpp"

using namespace fabric;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // A copy of exactly this size, so that the sanitizer sees a read beyond it.
    const auto copy = std::make_unique<std::byte[]>(size);
    if (size != 0) {
        std::memcpy(copy.get(), data, size);
    }
    const auto header = wire::decode({copy.get(), size});
    if (!header) {
        return 0;
    }
    std::array<std::byte, wire::kMaxHeaderBytes> first{};
    std::array<std::byte, wire::kMaxHeaderBytes> second{};
    const std::size_t bytes = wire::encode(*header, first);
    if (bytes == 0 || bytes > size) {
        std::abort();
    }
    const auto again = wire::decode(std::span(first).first(bytes));
    if (!again || wire::encode(*again, second) != bytes || first != second) {
        std::abort();
    }
    return 0;
}
