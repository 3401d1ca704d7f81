// SPDX-License-Identifier: BSD-3-Clause
#include "carrier/sender.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "memory/placement.hpp"
#include "pcap/recorder.hpp"
#include "trace.hpp"

namespace fabric::carrier {
namespace {

constexpr std::size_t kMadBytes = 256;
constexpr std::size_t kMaxPad = 3;
// The most that one more packet or datagram can need.
constexpr std::size_t kStagingPerPacket =
    wire::kFrameLengthBytes + wire::kMaxHeaderBytes + rc::kMaxInline + kMaxPad;
constexpr std::size_t kPiecesPerPacket = rc::kMaxSge + 2;
static_assert(kStagingPerPacket <= kSendStaging && kPiecesPerPacket <= kSendPieces);
static_assert(kMadBytes <= rc::kMaxInline);

std::array<std::byte, wire::kFrameLengthBytes> frame_length(std::size_t bytes) {
    return {static_cast<std::byte>(bytes >> 24), static_cast<std::byte>(bytes >> 16),
            static_cast<std::byte>(bytes >> 8), static_cast<std::byte>(bytes)};
}

}  // namespace

void Sender::queue_datagram(std::span<const std::byte> mad) {
    auto& copy = datagrams_.emplace_back();
    std::copy_n(mad.begin(), std::min(mad.size(), copy.size()), copy.begin());
}

Sender::Result Sender::flush(int fd, PacketHandler* packets) {
    if (batch_ == nullptr)
        batch_ = std::make_unique<Batch>();
    std::size_t sent = 0;
    for (;;) {
        gather(packets);
        if (batch_->count == 0) {
            errno = kCutError;
            return cut_ ? Result::Failed : Result::Idle;
        }
        const ssize_t now = unreadable_ ? -1 : send_batch(fd);
        if (unreadable_)
            errno = EFAULT;
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            return errno == EAGAIN ? Result::Blocked : Result::Failed;
        advance(static_cast<std::size_t>(now));
        sent += static_cast<std::size_t>(now);
        if (sent >= kSendBudget)
            return Result::Again;
    }
}

bool Sender::has_room() const {
    return batch_->staged + kStagingPerPacket <= kSendStaging &&
           batch_->count + kPiecesPerPacket <= kSendPieces;
}

void Sender::gather(PacketHandler* packets) {
    add_datagrams();
    while (packets != nullptr && datagrams_.empty() && !cut_ && has_room() &&
           packets->next_packet(batch_->packet))
        add_packet();
}

void Sender::add_datagrams() {
    auto next = datagrams_.begin();
    for (; next != datagrams_.end() && has_room(); ++next) {
        wire::Header header;
        header.opcode = wire::Opcode::UdSendOnly;
        header.destination_qp = header.source_qp = wire::kCmQpNumber;
        header.q_key = wire::kCmQKey;
        header.psn = datagram_psn_++ & wire::kPsnMask;
        std::array<std::byte, wire::kMaxHeaderBytes> encoded;
        const std::size_t size = wire::encode(header, encoded);
        add_copy(frame_length(size + kMadBytes));
        add_copy(std::span(encoded).first(size));
        add_copy(*next);
        if (trace::enabled())
            trace::packet(link_, trace::Direction::Sent, header, kMadBytes);
        if (pcap::enabled())
            pcap::sent(link_, std::span(encoded).first(size), {}, *next, 0);
    }
    datagrams_.erase(datagrams_.begin(), next);
}

void Sender::add_packet() {
    const rc::OutPacket& packet = batch_->packet;
    constexpr std::array<std::byte, kMaxPad> kPadding{};
    const std::size_t pad = packet.header.pad;
    add_copy(frame_length(packet.header_size + packet.payload_size + pad));
    add_copy(std::span(packet.header_data).first(packet.header_size));
    add_payload(std::span(packet.segments).first(packet.segment_count), packet.payload_size);
    add_copy(std::span(kPadding).first(pad));
    if (packet.frame_limit != rc::OutPacket::kWhole) {
        cut_behind(wire::kFrameLengthBytes + packet.header_size + packet.payload_size + pad -
                   packet.frame_limit);
        return;
    }
    if (trace::enabled())
        trace::packet(link_, trace::Direction::Sent, packet.header, packet.payload_size);
    if (pcap::enabled())
        pcap::sent(link_, std::span(packet.header_data).first(packet.header_size),
                   std::span(packet.segments).first(packet.segment_count), {}, pad);
}

// Takes so many bytes off the end of the batch again.
void Sender::cut_behind(std::size_t bytes) {
    cut_ = true;
    while (bytes > 0) {
        iovec& last = batch_->pieces[batch_->count - 1];
        const std::size_t part = std::min(bytes, last.iov_len);
        last.iov_len -= part;
        bytes -= part;
        if (last.iov_len == 0)
            --batch_->count;
    }
}

void Sender::add_payload(std::span<const memory::Segment> source, std::size_t bytes) {
    for (const auto& piece : source) {
        if (piece.region == nullptr)
            add_copy({piece.address, piece.length});
        else if (bytes > kCopyPayload)
            add_reference(piece);
        else if (!memory::fetch({&piece, 1}, 0, std::span(stage(piece.length), piece.length)))
            unreadable_ = true;
    }
}

void Sender::add_copy(std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), stage(bytes.size()));
}

// Room for copied bytes at the end of the batch.
std::byte* Sender::stage(std::size_t bytes) {
    Batch& batch = *batch_;
    std::byte* const place = batch.staging.data() + batch.staged;
    batch.staged += bytes;
    if (bytes == 0)
        return place;
    if (batch.count > batch.first && batch.regions[batch.count - 1] == nullptr) {
        iovec& last = batch.pieces[batch.count - 1];
        if (static_cast<std::byte*>(last.iov_base) + last.iov_len == place) {
            last.iov_len += bytes;
            return place;
        }
    }
    batch.pieces[batch.count] = {place, bytes};
    batch.regions[batch.count++] = nullptr;
    return place;
}

void Sender::add_reference(const memory::Segment& piece) {
    if (piece.length == 0)
        return;
    batch_->pieces[batch_->count] = {piece.address, piece.length};
    batch_->regions[batch_->count++] = piece.region;
}

ssize_t Sender::send_batch(int fd) {
    msghdr message{};
    message.msg_iov = batch_->pieces.data() + batch_->first;
    message.msg_iovlen = batch_->count - batch_->first;
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Sender::advance(std::size_t bytes) {
    Batch& batch = *batch_;
    while (bytes > 0) {
        iovec& piece = batch.pieces[batch.first];
        const std::size_t part = std::min(bytes, piece.iov_len);
        piece.iov_base = static_cast<std::byte*>(piece.iov_base) + part;
        piece.iov_len -= part;
        bytes -= part;
        if (piece.iov_len == 0)
            ++batch.first;
    }
    if (batch.first < batch.count)
        return;
    batch.first = batch.count = batch.staged = 0;
    batch.copies.clear();
}

void Sender::forget(const memory::Region* region) {
    if (batch_ == nullptr)
        return;
    for (std::size_t i = batch_->first; i < batch_->count; ++i) {
        if (batch_->regions[i] != region)
            continue;
        iovec& piece = batch_->pieces[i];
        auto& copy = batch_->copies.emplace_back(new std::byte[piece.iov_len]);
        const memory::Segment source = {static_cast<std::byte*>(piece.iov_base), piece.iov_len,
                                        region};
        // The program may have unmapped it before it gave up the registration.
        if (!memory::fetch({&source, 1}, 0, {copy.get(), piece.iov_len}))
            unreadable_ = true;
        piece.iov_base = copy.get();
        batch_->regions[i] = nullptr;
    }
}

}  // namespace fabric::carrier
