// SPDX-License-Identifier: BSD-3-Clause
#include "wire/packet.hpp"

#include "wire/bytes.hpp"
#include "wire/layout.hpp"

namespace fabric::wire {

namespace {

constexpr std::uint16_t kPartitionKey = 0xffff;   // the default partition, full member
constexpr std::uint16_t kPartitionMask = 0x7fff;  // without the membership bit
constexpr std::uint32_t kOvertakes = 0x01000000;  // the lowest of the reserved bits
constexpr std::uint8_t kTransportVersionMask = 0x0f;

constexpr std::array<std::uint8_t, 256> make_sizes() {
    std::array<std::uint8_t, 256> sizes{};
    for (std::size_t opcode = 0; opcode < sizes.size(); ++opcode) {
        unsigned bytes = 0;
        for (std::size_t part = 0; part < kPartBytes.size(); ++part) {
            bytes += (kParts[opcode] >> part & 1) != 0 ? unsigned{kPartBytes[part]} : 0U;
        }
        sizes[opcode] = static_cast<std::uint8_t>(bytes);
    }
    return sizes;
}

constexpr std::array<std::uint8_t, 256> kSizes = make_sizes();

void encode_bth(const Header& header, Writer& out) {
    out.put<1>(static_cast<std::uint8_t>(header.opcode));
    out.put<1>((header.solicited ? 0x80U : 0U) | (header.pad & 3U) << 4);
    out.put<2>(kPartitionKey);
    out.put<4>((header.overtakes ? kOvertakes : 0U) | (header.destination_qp & kPsnMask));
    out.put<4>((header.ack_request ? 0x80000000U : 0U) | (header.psn & kPsnMask));
}

bool decode_bth(Reader& in, Header& header) {
    header.opcode = static_cast<Opcode>(in.u8());
    const std::uint8_t flags = in.u8();
    header.solicited = (flags & 0x80U) != 0;
    header.pad = flags >> 4 & 3U;
    const bool readable = (flags & kTransportVersionMask) == 0;
    const bool our_partition = (in.u16() & kPartitionMask) == kPartitionMask;
    const std::uint32_t destination = in.u32();
    header.overtakes = (destination & kOvertakes) != 0;
    header.destination_qp = destination & kPsnMask;
    const std::uint32_t last = in.u32();
    header.ack_request = (last & 0x80000000U) != 0;
    header.psn = last & kPsnMask;
    return readable && our_partition;
}

// The request headers that name memory.
void encode_remote(const Header& header, unsigned parts, Writer& out) {
    if ((parts & kFeth) != 0) {
        out.put<4>((header.flush_type & 0x0fU) | (header.flush_level & 3U) << 4);
    }
    if ((parts & (kReth | kAtomicEth)) != 0) {
        out.put<8>(header.remote_address);
        out.put<4>(header.rkey);
    }
    if ((parts & kReth) != 0) {
        out.put<4>(header.dma_length);
    }
    if ((parts & kAtomicEth) != 0) {
        out.put<8>(header.swap_or_add);
        out.put<8>(header.compare);
    }
}

void decode_remote(Reader& in, unsigned parts, Header& header) {
    if ((parts & kFeth) != 0) {
        const std::uint32_t feth = in.u32();
        header.flush_type = feth & 0x0fU;
        header.flush_level = feth >> 4 & 3U;
    }
    if ((parts & (kReth | kAtomicEth)) != 0) {
        header.remote_address = in.u64();
        header.rkey = in.u32();
    }
    if ((parts & kReth) != 0) {
        header.dma_length = in.u32();
    }
    if ((parts & kAtomicEth) != 0) {
        header.swap_or_add = in.u64();
        header.compare = in.u64();
    }
}

// Immediate data keep the program's byte order: their bytes go as they lie in memory.
void encode_immediate(std::uint32_t immediate, Writer& out) {
    for (const std::byte value : std::as_bytes(std::span(&immediate, 1))) {
        out.put<1>(std::to_integer<std::uint8_t>(value));
    }
}

void decode_immediate(Reader& in, std::uint32_t& immediate) {
    for (std::byte& value : std::as_writable_bytes(std::span(&immediate, 1))) {
        value = static_cast<std::byte>(in.u8());
    }
}

void encode_rest(const Header& header, unsigned parts, Writer& out) {
    if ((parts & kAeth) != 0) {
        out.put<1>(header.syndrome);
        out.put<3>(header.msn & kPsnMask);
    }
    if ((parts & kAtomicAckEth) != 0) {
        out.put<8>(header.original);
    }
    if ((parts & kImmDt) != 0) {
        encode_immediate(header.immediate, out);
    }
    if ((parts & kIeth) != 0) {
        out.put<4>(header.rkey);
    }
}

void decode_rest(Reader& in, unsigned parts, Header& header) {
    if ((parts & kAeth) != 0) {
        header.syndrome = in.u8();
        header.msn = in.u24();
    }
    if ((parts & kAtomicAckEth) != 0) {
        header.original = in.u64();
    }
    if ((parts & kImmDt) != 0) {
        decode_immediate(in, header.immediate);
    }
    if ((parts & kIeth) != 0) {
        header.rkey = in.u32();
    }
}

}  // namespace

std::size_t header_bytes(Opcode opcode) {
    return kSizes[static_cast<std::uint8_t>(opcode)];
}

std::size_t encode(const Header& header, std::span<std::byte> out) {
    const unsigned parts = parts_of(header.opcode);
    if (parts == 0 || out.size() < header_bytes(header.opcode)) {
        return 0;
    }
    Writer writer(out.data());
    encode_bth(header, writer);
    if ((parts & kDeth) != 0) {
        writer.put<4>(header.q_key);
        writer.put<4>(header.source_qp & kPsnMask);
    }
    encode_remote(header, parts, writer);
    encode_rest(header, parts, writer);
    return header_bytes(header.opcode);
}

std::optional<Header> decode(std::span<const std::byte> in) {
    if (in.empty()) {
        return std::nullopt;
    }
    const auto opcode = static_cast<Opcode>(in[0]);
    const unsigned parts = parts_of(opcode);
    if (parts == 0 || in.size() < header_bytes(opcode)) {
        return std::nullopt;
    }
    Header header;
    Reader reader(in.data());
    if (!decode_bth(reader, header)) {
        return std::nullopt;
    }
    if ((parts & kDeth) != 0) {
        header.q_key = reader.u32();
        header.source_qp = reader.u32() & kPsnMask;
    }
    decode_remote(reader, parts, header);
    decode_rest(reader, parts, header);
    return header;
}

}  // namespace fabric::wire
