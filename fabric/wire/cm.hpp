// SPDX-License-Identifier: BSD-3-Clause
// The messages of the InfiniBand communication manager as values, and their encoding as management
// datagrams of 256 bytes (IBTA vol. 1, chapters 12.6 and 13.4). Numbers are in host order, GIDs,
// GUIDs given as bytes and private data as they lie on the wire. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

namespace fabric::wire {

inline constexpr std::size_t kMadBytes = 256;
using Mad = std::array<std::byte, kMadBytes>;
using CmGid = std::array<std::byte, 16>;

enum class CmAttribute : std::uint16_t {
    Request = 0x10,
    MessageReceipt = 0x11,
    Reject = 0x12,
    Reply = 0x13,
    ReadyToUse = 0x14,
    DisconnectRequest = 0x15,
    DisconnectReply = 0x16,
};

// Reasons of a REJ (12.6.7.2) that are used here.
inline constexpr std::uint16_t kCmTimeout = 4;
inline constexpr std::uint16_t kCmInvalidServiceId = 8;
inline constexpr std::uint16_t kCmInvalidMtu = 26;  // additional info: the largest code accepted
inline constexpr std::uint16_t kCmConsumerReject = 28;

// What a REJ or an MRA answers.
enum class CmAnswered : std::uint8_t { Request = 0, Reply = 1, Other = 2 };

// Vendor options of "enhanced connection establishment"; vendor 0: none.
struct CmEce {
    std::uint32_t vendor = 0;  // 24 bits
    std::uint32_t options = 0;
};

struct CmRequest {
    std::uint32_t local_id = 0;
    std::uint64_t service_id = 0;
    std::uint64_t ca_guid = 0;
    std::uint32_t qp_number = 0;           // 24 bits
    std::uint8_t responder_resources = 0;  // as meant by the sender: what it can answer
    std::uint8_t initiator_depth = 0;      // and what it will ask
    std::uint8_t remote_timeout = 0;       // 4.096 us << n, 5 bits
    std::uint8_t local_timeout = 0;        // 5 bits
    bool flow_control = false;
    std::uint32_t starting_psn = 0;    // 24 bits
    std::uint8_t retry_count = 0;      // 3 bits
    std::uint8_t rnr_retry_count = 0;  // 3 bits: for sends of the receiver of this message
    std::uint8_t max_cm_retries = 0;   // 4 bits
    std::uint16_t partition_key = 0;
    std::uint8_t mtu_code = 0;  // 4 bits; 128 << n bytes
    bool shared_receive_queue = false;
    CmGid local_gid{};
    CmGid remote_gid{};
    std::uint8_t traffic_class = 0;
    std::uint8_t hop_limit = 0;
    std::uint8_t packet_rate = 0;  // 6 bits
    std::uint8_t ack_timeout = 0;  // 5 bits
    CmEce ece;
    std::array<std::byte, 92> private_data{};
};

struct CmReply {
    std::uint32_t local_id = 0;
    std::uint32_t remote_id = 0;
    std::uint64_t ca_guid = 0;
    std::uint32_t qp_number = 0;     // 24 bits
    std::uint32_t starting_psn = 0;  // 24 bits
    std::uint8_t responder_resources = 0;
    std::uint8_t initiator_depth = 0;
    std::uint8_t ack_delay = 0;  // 5 bits
    bool flow_control = false;
    std::uint8_t rnr_retry_count = 0;  // 3 bits
    bool shared_receive_queue = false;
    CmEce ece;
    std::array<std::byte, 196> private_data{};
};

struct CmReadyToUse {
    std::uint32_t local_id = 0;
    std::uint32_t remote_id = 0;
};

struct CmReject {
    std::uint32_t local_id = 0;  // 0: no id was made for the message that is rejected
    std::uint32_t remote_id = 0;
    CmAnswered answered = CmAnswered::Request;
    std::uint8_t info_length = 0;  // bytes of `info` that mean something, 7 bits
    std::uint16_t reason = 0;
    std::array<std::byte, 72> info{};
    std::array<std::byte, 148> private_data{};
};

struct CmMessageReceipt {
    std::uint32_t local_id = 0;
    std::uint32_t remote_id = 0;
    CmAnswered answered = CmAnswered::Request;
    std::uint8_t service_timeout = 0;  // 5 bits
};

struct CmDisconnectRequest {
    std::uint32_t local_id = 0;
    std::uint32_t remote_id = 0;
    std::uint32_t remote_qp_number = 0;  // 24 bits
};

struct CmDisconnectReply {
    std::uint32_t local_id = 0;
    std::uint32_t remote_id = 0;
};

using CmBody = std::variant<CmRequest, CmReply, CmReadyToUse, CmReject, CmMessageReceipt,
                            CmDisconnectRequest, CmDisconnectReply>;

struct CmMessage {
    std::uint64_t transaction = 0;
    CmBody body;
};

Mad encode(const CmMessage& message);

// Nothing for a datagram of another length, class, version or method, or with an unknown attribute.
// Hostile input is expected here.
std::optional<CmMessage> decode_cm(std::span<const std::byte> mad);

// What rdma_cm puts in front of the private data of a REQ, and where the program's part begins.
struct CmIpHeader {
    bool ipv6 = false;
    std::uint16_t source_port = 0;
    CmGid source{};  // an IPv4 address lies in the last four bytes
    CmGid destination{};
};
inline constexpr std::size_t kCmIpHeaderBytes = 36;
inline constexpr std::size_t kCmRequestUserBytes = 92 - kCmIpHeaderBytes;  // 56
inline constexpr std::size_t kCmReplyUserBytes = 196;
inline constexpr std::size_t kCmRejectUserBytes = 148;

void encode_ip_header(const CmIpHeader& header, std::span<std::byte, kCmIpHeaderBytes> out);
// Nothing if the version is not 0 or the IP version is neither 4 nor 6.
std::optional<CmIpHeader> decode_ip_header(std::span<const std::byte, kCmIpHeaderBytes> in);

}  // namespace fabric::wire
