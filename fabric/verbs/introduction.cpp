// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/introduction.hpp"

#include <endian.h>

#include <algorithm>
#include <cstring>

#include "config.hpp"
#include "wire/packet.hpp"

namespace fabric::verbs {
namespace {

using Head = std::array<unsigned char, 24>;

// Base version, class, class version, method; status; transaction; attribute.
constexpr Head kHead = {1, 0x0a, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10};
constexpr std::uint32_t kFormat = 1;
constexpr std::size_t kUsed = 72;

void put(std::span<std::byte> out, std::size_t offset, std::uint32_t value) {
    const std::uint32_t wire = htobe32(value);
    std::memcpy(out.data() + offset, &wire, sizeof wire);
}

std::uint32_t get(std::span<const std::byte> in, std::size_t offset) {
    std::uint32_t wire = 0;
    std::memcpy(&wire, in.data() + offset, sizeof wire);
    return be32toh(wire);
}

}  // namespace

std::array<std::byte, 256> encode(const Introduction& introduction) {
    std::array<std::byte, 256> out{};
    std::memcpy(out.data(), kHead.data(), kHead.size());
    put(out, 24, kFormat);
    put(out, 28, introduction.stream_mtu);
    put(out, 32, introduction.source_qp);
    put(out, 36, introduction.destination_qp);
    std::memcpy(out.data() + 40, introduction.source_gid.raw, sizeof(ibv_gid));
    std::memcpy(out.data() + 56, introduction.destination_gid.raw, sizeof(ibv_gid));
    return out;
}

std::optional<Introduction> decode_introduction(std::span<const std::byte> mad) {
    if (mad.size() != 256 || std::memcmp(mad.data(), kHead.data(), kHead.size()) != 0 ||
        get(mad, 24) != kFormat)
        return std::nullopt;
    const auto rest = mad.subspan(kUsed);
    if (std::any_of(rest.begin(), rest.end(), [](std::byte b) { return b != std::byte{0}; }))
        return std::nullopt;
    Introduction out;
    out.stream_mtu = get(mad, 28);
    out.source_qp = get(mad, 32);
    out.destination_qp = get(mad, 36);
    std::memcpy(out.source_gid.raw, mad.data() + 40, sizeof(ibv_gid));
    std::memcpy(out.destination_gid.raw, mad.data() + 56, sizeof(ibv_gid));
    if (out.stream_mtu < kMinStreamMtu || out.stream_mtu > kMaxStreamMtu ||
        out.source_qp > wire::kPsnMask || out.destination_qp > wire::kPsnMask)
        return std::nullopt;
    return out;
}

}  // namespace fabric::verbs
