// SPDX-License-Identifier: BSD-3-Clause
// Hostile management datagrams: nothing but whole messages is taken, what is taken stays in range,
// and writing it again loses nothing.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "wire/cm.hpp"

using namespace fabric;

namespace {

void require(bool condition) {
    if (!condition)
        std::abort();
}

void check(const wire::CmRequest& m) {
    require(m.qp_number <= 0xffffff && m.starting_psn <= 0xffffff && m.ece.vendor <= 0xffffff);
    require(m.retry_count <= 7 && m.rnr_retry_count <= 7 && m.mtu_code <= 15);
    require(m.remote_timeout <= 31 && m.local_timeout <= 31 && m.ack_timeout <= 31);
    const auto data = std::span(m.private_data).first<wire::kCmIpHeaderBytes>();
    if (const auto header = wire::decode_ip_header(data)) {
        std::array<std::byte, wire::kCmIpHeaderBytes> out;
        wire::encode_ip_header(*header, out);
        const auto again = wire::decode_ip_header(out);
        require(again && again->source_port == header->source_port && again->ipv6 == header->ipv6 &&
                again->source == header->source && again->destination == header->destination);
    }
}

void check(const wire::CmReply& m) {
    require(m.qp_number <= 0xffffff && m.starting_psn <= 0xffffff && m.rnr_retry_count <= 7);
}

void check(const wire::CmReject& m) {
    require(m.info_length <= m.info.size() && m.answered <= wire::CmAnswered::Other);
}

void check(const wire::CmMessageReceipt& m) {
    require(m.service_timeout <= 31 && m.answered <= wire::CmAnswered::Other);
}

void check(const wire::CmDisconnectRequest& m) {
    require(m.remote_qp_number <= 0xffffff);
}

void check(const wire::CmReadyToUse&) {}
void check(const wire::CmDisconnectReply&) {}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto input = std::as_bytes(std::span(data, size));
    const auto message = wire::decode_cm(input);
    if (!message)
        return 0;
    require(size == wire::kMadBytes);
    std::visit([](const auto& body) { check(body); }, message->body);
    const wire::Mad mad = wire::encode(*message);
    const auto again = wire::decode_cm(mad);
    require(again && again->transaction == message->transaction &&
            again->body.index() == message->body.index());
    require(wire::encode(*again) == mad);
    return 0;
}
