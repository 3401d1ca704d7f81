// SPDX-License-Identifier: BSD-3-Clause
#include "links.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "cmocka.hpp"
#include "waiting.hpp"

namespace links {

namespace carrier = fabric::carrier;
namespace wire = fabric::wire;

Bytes pattern(std::size_t size, unsigned seed) {
    Bytes out(size);
    for (std::size_t i = 0; i < size; ++i)
        out[i] = static_cast<std::byte>((i * 31 + i / 251 + seed * 17) & 0xff);
    return out;
}

fabric::rc::Endpoint::Begin Packets::begin(const wire::Header& header, std::size_t payload_bytes) {
    const std::lock_guard guard(mutex_);
    ++begun;
    if (refuse)
        return {{}, true};
    in_.push_back({header, Bytes(payload_bytes), false, false});
    if (throw_away || payload_bytes == 0)
        return {};
    std::byte* const given = place;
    target_ = {given != nullptr ? given : in_.back().payload.data(), payload_bytes, place_region};
    return {{&target_, 1}, false};
}

void Packets::end(bool placed) {
    const std::lock_guard guard(mutex_);
    in_.back().placed = placed;
    in_.back().ended = true;
}

std::size_t Packets::count() {
    const std::lock_guard guard(mutex_);
    return static_cast<std::size_t>(
        std::count_if(in_.begin(), in_.end(), [](const Received& packet) { return packet.ended; }));
}

Received Packets::at(std::size_t index) {
    const std::lock_guard guard(mutex_);
    return in_.at(index);
}

std::size_t Packets::waiting() {
    const std::lock_guard guard(mutex_);
    return out_.size();
}

void Packets::send(const wire::Header& header, std::span<std::byte> payload,
                   const fabric::memory::Region* region) {
    const std::lock_guard guard(mutex_);
    out_.push_back({header, payload, region});
}

bool Packets::next_packet(fabric::rc::OutPacket& out) {
    const std::lock_guard guard(mutex_);
    if (out_.empty())
        return false;
    const Out next = out_.front();
    out_.pop_front();
    out.header = next.header;
    out.header.pad = static_cast<std::uint8_t>((4 - next.payload.size() % 4) % 4);
    out.header_size = static_cast<std::uint32_t>(wire::encode(out.header, out.header_data));
    out.payload_size = static_cast<std::uint32_t>(next.payload.size());
    out.segment_count = next.payload.empty() ? 0 : 1;
    out.segments[0] = {next.payload.data(), next.payload.size(), next.region};
    return true;
}

void Control::datagram(std::span<const std::byte> mad) {
    const std::lock_guard guard(mutex_);
    in_.emplace_back(mad.begin(), mad.end());
}

std::size_t Control::count() {
    const std::lock_guard guard(mutex_);
    return in_.size();
}

Bytes Control::at(std::size_t index) {
    const std::lock_guard guard(mutex_);
    return in_.at(index);
}

sockaddr_storage loopback(std::uint16_t port) {
    sockaddr_storage out{};
    auto& in = reinterpret_cast<sockaddr_in&>(out);
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    in.sin_port = htons(port);
    return out;
}

Pair::Pair() {
    std::mutex mutex;
    std::shared_ptr<carrier::Link> incoming;
    const auto take = [&, control = b.control](std::shared_ptr<carrier::Link> link) {
        link->set_control(control);
        const std::lock_guard guard(mutex);
        incoming = std::move(link);
    };
    assert_int_equal(carrier::listen(loopback(0), 8, take, &listener_), 0);
    assert_int_equal(carrier::connect({}, listener_->address(), a.control, &a.link), 0);
    assert_true(eventually([&] {
        const std::lock_guard guard(mutex);
        return incoming != nullptr && a.control->ups == 1;
    }));
    b.link = incoming;
    listener_.reset();
}

Pair::~Pair() {
    for (const End* end : {&a, &b}) {
        end->link->set_packets(nullptr);
        end->link->close();
    }
}

void Pair::bind_packets() {
    a.link->set_packets(a.packets);
    b.link->set_packets(b.packets);
}

Bare::Bare(int receive_buffer) {
    const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer != 0)
        setsockopt(listening, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_storage address = loopback(0);
    socklen_t size = sizeof(sockaddr_in);
    assert_int_equal(bind(listening, reinterpret_cast<sockaddr*>(&address), size), 0);
    assert_int_equal(::listen(listening, 1), 0);
    getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size);
    assert_int_equal(carrier::connect({}, address, end.control, &end.link), 0);
    socket_ = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    assert_true(socket_ >= 0);
    ::close(listening);
    assert_true(eventually([&] { return end.control->ups == 1; }));
}

Bare::~Bare() {
    close_socket();
    end.link->set_packets(nullptr);
    end.link->close();
}

void Bare::write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
        const ssize_t now = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (now <= 0)
            return;  // the link ended meanwhile, which is what some tests want
        bytes = bytes.subspan(static_cast<std::size_t>(now));
    }
}

bool Bare::read(std::span<std::byte> out) const {
    return recv(socket_, out.data(), out.size(), MSG_WAITALL) == static_cast<ssize_t>(out.size());
}

Bytes Bare::read_frame() const {
    std::array<std::byte, 4> head{};
    if (!read(head))
        return {};
    std::size_t length = 0;
    for (const std::byte byte : head)
        length = (length << 8) | std::to_integer<std::size_t>(byte);
    Bytes out(length);
    return read(out) ? out : Bytes{};
}

void Bare::close_socket() {
    if (socket_ >= 0)
        ::close(socket_);
    socket_ = -1;
}

void Bare::reset_socket() {
    const linger now = {1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close_socket();
}

Bytes frame(wire::Header header, std::span<const std::byte> payload) {
    header.pad = static_cast<std::uint8_t>((4 - payload.size() % 4) % 4);
    const std::size_t header_bytes = wire::header_bytes(header.opcode);
    const std::size_t length = header_bytes + payload.size() + header.pad;
    Bytes out(4 + length);
    for (std::size_t i = 0; i < 4; ++i)
        out[i] = static_cast<std::byte>(length >> (24 - 8 * i));
    wire::encode(header, std::span(out).subspan(4));
    std::copy(payload.begin(), payload.end(),
              out.begin() + static_cast<std::ptrdiff_t>(4 + header_bytes));
    return out;
}

wire::Header write_header(std::uint32_t psn, std::size_t bytes) {
    wire::Header out;
    out.opcode = wire::Opcode::WriteOnly;
    out.destination_qp = 0x1234;
    out.psn = psn;
    out.remote_address = 0x1000;
    out.rkey = 7;
    out.dma_length = static_cast<std::uint32_t>(bytes);
    return out;
}

}  // namespace links
