// SPDX-License-Identifier: BSD-3-Clause
#include "wire/cm.hpp"

#include <algorithm>

namespace fabric::wire {
namespace {

// Header of a management datagram (13.4.3); the message starts behind it.
constexpr std::size_t kBody = 24;
constexpr std::uint64_t kVersionClassMethod =
    0x01070203;  // base 1, class CM, class version 2, send

class Writer {
public:
    Writer() { put(0, 4, kVersionClassMethod); }
    void put(std::size_t at, std::size_t bytes, std::uint64_t value) {
        for (std::size_t i = bytes; i-- > 0; value >>= 8)
            mad_[at + i] = static_cast<std::byte>(value);
    }
    void field(std::size_t at, std::size_t bytes, std::uint64_t value) {
        put(kBody + at, bytes, value);
    }
    void copy(std::size_t at, std::span<const std::byte> bytes) {
        std::copy(bytes.begin(), bytes.end(), mad_.begin() + static_cast<long>(kBody + at));
    }
    const Mad& mad() const { return mad_; }

private:
    Mad mad_{};
};

class Reader {
public:
    explicit Reader(std::span<const std::byte> mad) : mad_(mad) {}
    std::uint64_t get(std::size_t at, std::size_t bytes) const {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes; ++i)
            value = value << 8 | std::to_integer<std::uint64_t>(mad_[at + i]);
        return value;
    }
    std::uint64_t u64(std::size_t at) const { return get(kBody + at, 8); }
    std::uint32_t u32(std::size_t at) const {
        return static_cast<std::uint32_t>(get(kBody + at, 4));
    }
    std::uint32_t u24(std::size_t at) const {
        return static_cast<std::uint32_t>(get(kBody + at, 3));
    }
    std::uint16_t u16(std::size_t at) const {
        return static_cast<std::uint16_t>(get(kBody + at, 2));
    }
    std::uint8_t u8(std::size_t at) const { return static_cast<std::uint8_t>(get(kBody + at, 1)); }
    // `width` bits that end `shift` bits above the lowest of the byte.
    std::uint8_t bits(std::size_t at, unsigned shift, unsigned width) const {
        return static_cast<std::uint8_t>((get(kBody + at, 1) >> shift) & ((1U << width) - 1));
    }
    void copy(std::size_t at, std::span<std::byte> out) const {
        std::copy_n(mad_.begin() + static_cast<long>(kBody + at), out.size(), out.begin());
    }

private:
    std::span<const std::byte> mad_;
};

std::uint64_t masked(std::uint64_t value, unsigned width, unsigned shift) {
    return (value & ((1ULL << width) - 1)) << shift;
}

void put_path(Writer& out, const CmRequest& m) {
    out.field(52, 2, 0xffff);  // RoCE has no LIDs: the permissive one
    out.field(54, 2, 0xffff);
    out.copy(56, m.local_gid);
    out.copy(72, m.remote_gid);
    out.field(91, 1, masked(m.packet_rate, 6, 0));
    out.field(92, 1, m.traffic_class);
    out.field(93, 1, m.hop_limit);
    out.field(95, 1, masked(m.ack_timeout, 5, 3));
}

void put(Writer& out, const CmRequest& m) {
    out.put(20, 4, m.ece.options);
    out.field(0, 4, m.local_id);
    out.field(8, 8, m.service_id);
    out.field(16, 8, m.ca_guid);
    out.field(24, 3, m.ece.vendor);
    out.field(32, 3, m.qp_number);
    out.field(35, 1, m.responder_resources);
    out.field(39, 1, m.initiator_depth);
    out.field(43, 1, masked(m.remote_timeout, 5, 3) | masked(m.flow_control, 1, 0));
    out.field(44, 3, m.starting_psn);
    out.field(47, 1, masked(m.local_timeout, 5, 3) | masked(m.retry_count, 3, 0));
    out.field(48, 2, m.partition_key);
    out.field(50, 1, masked(m.mtu_code, 4, 4) | masked(m.rnr_retry_count, 3, 0));
    out.field(51, 1, masked(m.max_cm_retries, 4, 4) | masked(m.shared_receive_queue, 1, 3));
    put_path(out, m);
    out.copy(140, m.private_data);
}

void put(Writer& out, const CmReply& m) {
    out.put(20, 4, m.ece.options);
    out.field(0, 4, m.local_id);
    out.field(4, 4, m.remote_id);
    out.field(12, 3, m.qp_number);
    out.field(15, 1, m.ece.vendor >> 16 & 0xff);
    out.field(19, 1, m.ece.vendor >> 8 & 0xff);
    out.field(20, 3, m.starting_psn);
    out.field(23, 1, m.ece.vendor & 0xff);
    out.field(24, 1, m.responder_resources);
    out.field(25, 1, m.initiator_depth);
    out.field(26, 1, masked(m.ack_delay, 5, 3) | masked(m.flow_control, 1, 0));
    out.field(27, 1, masked(m.rnr_retry_count, 3, 5) | masked(m.shared_receive_queue, 1, 4));
    out.field(28, 8, m.ca_guid);
    out.copy(36, m.private_data);
}

void put(Writer& out, const CmReject& m) {
    out.field(0, 4, m.local_id);
    out.field(4, 4, m.remote_id);
    out.field(8, 1, masked(static_cast<std::uint64_t>(m.answered), 2, 6));
    out.field(9, 1, masked(m.info_length, 7, 1));
    out.field(10, 2, m.reason);
    out.copy(12, m.info);
    out.copy(84, m.private_data);
}

void put(Writer& out, const CmMessageReceipt& m) {
    out.field(0, 4, m.local_id);
    out.field(4, 4, m.remote_id);
    out.field(8, 1, masked(static_cast<std::uint64_t>(m.answered), 2, 6));
    out.field(9, 1, masked(m.service_timeout, 5, 3));
}

void put(Writer& out, const CmDisconnectRequest& m) {
    out.field(0, 4, m.local_id);
    out.field(4, 4, m.remote_id);
    out.field(8, 3, m.remote_qp_number);
}

template <typename TwoIds>
void put(Writer& out, const TwoIds& m) {
    out.field(0, 4, m.local_id);
    out.field(4, 4, m.remote_id);
}

CmAttribute attribute_of(const CmBody& body) {
    static constexpr std::array kAttributes = {
        CmAttribute::Request,         CmAttribute::Reply,          CmAttribute::ReadyToUse,
        CmAttribute::Reject,          CmAttribute::MessageReceipt, CmAttribute::DisconnectRequest,
        CmAttribute::DisconnectReply,
    };
    static_assert(kAttributes.size() == std::variant_size_v<CmBody>);
    return kAttributes[body.index()];
}

void get_path(const Reader& in, CmRequest& m) {
    in.copy(56, m.local_gid);
    in.copy(72, m.remote_gid);
    m.packet_rate = in.bits(91, 0, 6);
    m.traffic_class = in.u8(92);
    m.hop_limit = in.u8(93);
    m.ack_timeout = in.bits(95, 3, 5);
}

void get(const Reader& in, CmRequest& m) {
    m.ece = {.vendor = in.u24(24), .options = static_cast<std::uint32_t>(in.get(20, 4))};
    m.local_id = in.u32(0);
    m.service_id = in.u64(8);
    m.ca_guid = in.u64(16);
    m.qp_number = in.u24(32);
    m.responder_resources = in.u8(35);
    m.initiator_depth = in.u8(39);
    m.remote_timeout = in.bits(43, 3, 5);
    m.flow_control = in.bits(43, 0, 1) != 0;
    m.starting_psn = in.u24(44);
    m.local_timeout = in.bits(47, 3, 5);
    m.retry_count = in.bits(47, 0, 3);
    m.partition_key = in.u16(48);
    m.mtu_code = in.bits(50, 4, 4);
    m.rnr_retry_count = in.bits(50, 0, 3);
    m.max_cm_retries = in.bits(51, 4, 4);
    m.shared_receive_queue = in.bits(51, 3, 1) != 0;
    get_path(in, m);
    in.copy(140, m.private_data);
}

void get(const Reader& in, CmReply& m) {
    m.ece.options = static_cast<std::uint32_t>(in.get(20, 4));
    m.ece.vendor = static_cast<std::uint32_t>(in.u8(15) << 16 | in.u8(19) << 8 | in.u8(23));
    m.local_id = in.u32(0);
    m.remote_id = in.u32(4);
    m.qp_number = in.u24(12);
    m.starting_psn = in.u24(20);
    m.responder_resources = in.u8(24);
    m.initiator_depth = in.u8(25);
    m.ack_delay = in.bits(26, 3, 5);
    m.flow_control = in.bits(26, 0, 1) != 0;
    m.rnr_retry_count = in.bits(27, 5, 3);
    m.shared_receive_queue = in.bits(27, 4, 1) != 0;
    m.ca_guid = in.u64(28);
    in.copy(36, m.private_data);
}

void get(const Reader& in, CmReject& m) {
    m.local_id = in.u32(0);
    m.remote_id = in.u32(4);
    m.answered = static_cast<CmAnswered>(std::min<std::uint8_t>(in.bits(8, 6, 2), 2));
    m.info_length = std::min<std::uint8_t>(in.bits(9, 1, 7), sizeof(m.info));
    m.reason = in.u16(10);
    in.copy(12, m.info);
    in.copy(84, m.private_data);
}

void get(const Reader& in, CmMessageReceipt& m) {
    m.local_id = in.u32(0);
    m.remote_id = in.u32(4);
    m.answered = static_cast<CmAnswered>(std::min<std::uint8_t>(in.bits(8, 6, 2), 2));
    m.service_timeout = in.bits(9, 3, 5);
}

void get(const Reader& in, CmDisconnectRequest& m) {
    m.local_id = in.u32(0);
    m.remote_id = in.u32(4);
    m.remote_qp_number = in.u24(8);
}

template <typename TwoIds>
void get(const Reader& in, TwoIds& m) {
    m.local_id = in.u32(0);
    m.remote_id = in.u32(4);
}

template <typename Body>
CmMessage read(const Reader& in) {
    Body body;
    get(in, body);
    return {.transaction = in.get(8, 8), .body = body};
}

}  // namespace

Mad encode(const CmMessage& message) {
    Writer out;
    out.put(8, 8, message.transaction);
    out.put(16, 2, static_cast<std::uint64_t>(attribute_of(message.body)));
    std::visit([&out](const auto& body) { put(out, body); }, message.body);
    return out.mad();
}

std::optional<CmMessage> decode_cm(std::span<const std::byte> mad) {
    if (mad.size() != kMadBytes)
        return std::nullopt;
    const Reader in(mad);
    if (in.get(0, 4) != kVersionClassMethod)
        return std::nullopt;
    switch (static_cast<CmAttribute>(in.get(16, 2))) {
        case CmAttribute::Request:
            return read<CmRequest>(in);
        case CmAttribute::MessageReceipt:
            return read<CmMessageReceipt>(in);
        case CmAttribute::Reject:
            return read<CmReject>(in);
        case CmAttribute::Reply:
            return read<CmReply>(in);
        case CmAttribute::ReadyToUse:
            return read<CmReadyToUse>(in);
        case CmAttribute::DisconnectRequest:
            return read<CmDisconnectRequest>(in);
        case CmAttribute::DisconnectReply:
            return read<CmDisconnectReply>(in);
    }
    return std::nullopt;
}

void encode_ip_header(const CmIpHeader& header, std::span<std::byte, kCmIpHeaderBytes> out) {
    out[0] = std::byte{0};
    out[1] = header.ipv6 ? std::byte{0x60} : std::byte{0x40};
    out[2] = static_cast<std::byte>(header.source_port >> 8);
    out[3] = static_cast<std::byte>(header.source_port);
    std::copy(header.source.begin(), header.source.end(), out.begin() + 4);
    std::copy(header.destination.begin(), header.destination.end(), out.begin() + 20);
}

std::optional<CmIpHeader> decode_ip_header(std::span<const std::byte, kCmIpHeaderBytes> in) {
    const auto version = std::to_integer<unsigned>(in[1]) >> 4;
    if (in[0] != std::byte{0} || (version != 4 && version != 6))
        return std::nullopt;
    CmIpHeader header;
    header.ipv6 = version == 6;
    header.source_port = static_cast<std::uint16_t>(std::to_integer<unsigned>(in[2]) << 8 |
                                                    std::to_integer<unsigned>(in[3]));
    std::copy_n(in.begin() + 4, 16, header.source.begin());
    std::copy_n(in.begin() + 20, 16, header.destination.begin());
    return header;
}

}  // namespace fabric::wire
