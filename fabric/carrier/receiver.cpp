// SPDX-License-Identifier: BSD-3-Clause
#include "carrier/receiver.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "memory/placement.hpp"
#include "pcap/recorder.hpp"
#include "trace.hpp"

namespace fabric::carrier {
namespace {

constexpr std::size_t kSmallFrame = wire::kMaxHeaderBytes + kSmallPayload;

std::size_t frame_length(std::span<const std::byte> bytes) {
    std::size_t length = 0;
    for (const std::byte byte : bytes.first(wire::kFrameLengthBytes))
        length = (length << 8) | std::to_integer<std::size_t>(byte);
    return length;
}

bool refers_to(memory::Target target, const memory::Region* region) {
    return std::any_of(target.begin(), target.end(),
                       [region](const memory::Segment& piece) { return piece.region == region; });
}

// Bytes in front of the next payload, if the peer goes on as it began.
std::size_t headers_after(wire::Opcode opcode) {
    using enum wire::Opcode;
    switch (opcode) {
        case WriteFirst:
            opcode = WriteMiddle;
            break;
        case WriteLast:
        case WriteLastImm:
            opcode = WriteFirst;
            break;
        case ReadResponseMiddle:
            opcode = ReadResponseLast;
            break;
        default:
            break;
    }
    return wire::kFrameLengthBytes + wire::header_bytes(opcode);
}

}  // namespace

void Receiver::load(Scratch& scratch) {
    scratch_ = &scratch;
    took_packets_ = false;
    first_ = 0;
    last_ = kept_.size();
    std::copy(kept_.begin(), kept_.end(), scratch.begin());
    kept_.clear();
    if (kept_.capacity() > 2 * kSmallFrame)
        std::vector<std::byte>().swap(kept_);
}

void Receiver::save() {
    const auto rest = input();
    kept_.assign(rest.begin(), rest.end());
    scratch_ = nullptr;
    first_ = last_ = 0;
}

Receiver::Fill Receiver::fill(int fd, std::size_t* bytes) {
    std::array<iovec, rc::kMaxSge + 1> pieces;
    std::size_t count = 0;
    std::size_t direct = 0;
    if (streaming_ && placing_ && record_.empty()) {
        count = memory::window(target_, offset_, std::span(pieces).first(rc::kMaxSge));
        for (std::size_t i = 0; i < count; ++i)
            direct += pieces[i].iov_len;
    }
    const auto rest = input();
    std::memmove(scratch_->data(), rest.data(), rest.size());
    first_ = 0;
    last_ = rest.size();
    const bool headers_only = bulk_ && rest.empty() && (placing_ || !streaming_);
    const std::size_t extra = headers_only ? next_headers_ : kScratchRead;
    pieces[count++] = {scratch_->data() + last_, extra};
    const ssize_t got = readv(fd, pieces.data(), static_cast<int>(count));
    if (got == 0)
        return Fill::End;
    if (got < 0 && errno == EFAULT && direct > 0) {
        // The program unmapped memory it had registered; the rest of this payload goes nowhere.
        placing_ = placed_ = false;
        *bytes = 0;
        return Fill::Some;
    }
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? Fill::Nothing : Fill::Failed;
    *bytes = static_cast<std::size_t>(got);
    const std::size_t straight = std::min(*bytes, direct);
    if (straight > 0) {
        memory::arrived(target_, offset_, straight);
        offset_ += straight;
    }
    last_ += *bytes - straight;
    return *bytes < direct + extra ? Fill::Drained : Fill::Some;
}

Receiver::Parse Receiver::parse(PacketHandler* packets, bool take_datagrams, Mad& mad) {
    bool discards = false;
    for (;;) {
        if (streaming_)
            stream_from_input(packets);
        const std::size_t padding = std::min(pad_, input().size());
        first_ += padding;
        pad_ -= padding;
        std::size_t frame_bytes = 0;
        bool broken = false;
        if (streaming_ || !whole(&frame_bytes, &broken))
            return broken ? Parse::Broken : discards ? Parse::Discards : Parse::Hungry;
        Frame frame;
        if (!read_frame(frame_bytes, frame))
            return Parse::Broken;
        if (frame.header.opcode == wire::Opcode::UdSendOnly) {
            if (!take_datagrams)
                return Parse::Stalled;
            return take_datagram(frame, mad) ? Parse::Datagram : Parse::Broken;
        }
        if (packets == nullptr && !detached_)
            return Parse::Stalled;
        if (trace::enabled())
            trace::packet(link_, trace::Direction::Received, frame.header, frame.payload_bytes);
        if (pcap::enabled())
            record_frame(frame);
        if (packets == nullptr) {
            discards = true;
            skip_packet(frame);
        } else if (!take_packet(frame, *packets)) {
            return Parse::Broken;
        }
    }
}

// True if enough of the next frame is here: all of a small one, the headers of a large one.
bool Receiver::whole(std::size_t* frame_bytes, bool* broken) {
    const auto bytes = input();
    if (bytes.size() <= wire::kFrameLengthBytes)
        return false;
    *frame_bytes = frame_length(bytes);
    const auto opcode = static_cast<wire::Opcode>(bytes[wire::kFrameLengthBytes]);
    const std::size_t headers = wire::header_bytes(opcode);
    *broken =
        *frame_bytes < std::max(headers, kMinFrame) || *frame_bytes > kMaxFrame || headers == 0;
    const std::size_t wanted = *frame_bytes <= kSmallFrame ? *frame_bytes : headers;
    return !*broken && bytes.size() >= wire::kFrameLengthBytes + wanted;
}

bool Receiver::read_frame(std::size_t frame_bytes, Frame& out) {
    const auto bytes = input().subspan(wire::kFrameLengthBytes);
    const auto header = wire::decode(bytes.first(std::min(frame_bytes, bytes.size())));
    if (!header)
        return false;
    out.header = *header;
    out.header_bytes = wire::header_bytes(header->opcode);
    if (frame_bytes < out.header_bytes + header->pad)
        return false;
    out.payload_bytes = frame_bytes - out.header_bytes - header->pad;
    return true;
}

bool Receiver::take_datagram(const Frame& frame, Mad& mad) {
    const wire::Header& header = frame.header;
    if (frame.payload_bytes != kMadBytes || header.pad != 0 ||
        header.destination_qp != wire::kCmQpNumber || header.q_key != wire::kCmQKey)
        return false;
    if (trace::enabled())
        trace::packet(link_, trace::Direction::Received, header, kMadBytes);
    if (pcap::enabled())
        record_frame(frame);
    first_ += wire::kFrameLengthBytes + frame.header_bytes;
    std::copy_n(input().begin(), kMadBytes, mad.begin());
    first_ += kMadBytes;
    return true;
}

// At once if all of it is here, else when the rest has come.
void Receiver::record_frame(const Frame& frame) {
    const std::size_t bytes = frame.header_bytes + frame.payload_bytes + frame.header.pad;
    const auto here = input().subspan(wire::kFrameLengthBytes);
    if (here.size() >= bytes)
        pcap::received(link_, here.first(bytes));
    else
        record_.assign(here.begin(), here.begin() + static_cast<long>(frame.header_bytes));
}

bool Receiver::take_packet(const Frame& frame, PacketHandler& packets) {
    took_packets_ = true;
    const auto begun = packets.begin(frame.header, frame.payload_bytes);
    if (begun.fatal)
        return false;
    first_ += wire::kFrameLengthBytes + frame.header_bytes;
    bulk_ = frame.payload_bytes > kSmallPayload;
    next_headers_ = headers_after(frame.header.opcode);
    if (input().size() < frame.payload_bytes + frame.header.pad) {
        start_stream(frame.payload_bytes, frame.header.pad, begun.target);
        owed_ = true;
        return true;
    }
    const bool placed =
        begun.target.empty() || memory::copy(begun.target, 0, input().first(frame.payload_bytes));
    packets.end(placed);
    first_ += frame.payload_bytes + frame.header.pad;
    return true;
}

void Receiver::skip_packet(const Frame& frame) {
    first_ += wire::kFrameLengthBytes + frame.header_bytes;
    start_stream(frame.payload_bytes, frame.header.pad, {});
}

void Receiver::start_stream(std::size_t payload_bytes, std::uint8_t pad, memory::Target target) {
    streaming_ = true;
    owed_ = false;
    target_ = target;
    placing_ = !target.empty();
    placed_ = true;
    offset_ = 0;
    size_ = payload_bytes;
    pad_ = pad;
}

void Receiver::stream_from_input(PacketHandler* packets) {
    const auto here = input().first(std::min(input().size(), size_ - offset_));
    if (placing_ && !here.empty() && !memory::copy(target_, offset_, here))
        placing_ = placed_ = false;
    if (!record_.empty()) {
        const std::size_t recorded = record_.size();
        record_.resize(recorded + here.size());
        std::ranges::copy(here, record_.begin() + static_cast<long>(recorded));
    }
    offset_ += here.size();
    first_ += here.size();
    if (offset_ == size_)
        stream_done(packets);
}

void Receiver::stream_done(PacketHandler* packets) {
    streaming_ = false;
    if (!record_.empty()) {
        record_.resize(record_.size() + pad_);  // it is zeros
        pcap::received(link_, record_);
        record_.clear();
    }
    if (owed_ && packets != nullptr) {
        took_packets_ = true;  // it may have begun in an earlier round
        packets->end(placed_);
    }
    owed_ = false;
    target_ = {};
}

void Receiver::attach() {
    detached_ = false;
}

void Receiver::detach() {
    detached_ = true;
    owed_ = placing_ = false;
    target_ = {};
}

void Receiver::forget(const memory::Region* region) {
    if (streaming_ && placing_ && refers_to(target_, region))
        placing_ = placed_ = false;
}

}  // namespace fabric::carrier
