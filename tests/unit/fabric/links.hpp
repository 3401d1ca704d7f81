// SPDX-License-Identifier: BSD-3-Clause
// Stand-ins for what is around a link: handlers that record, and a peer that is a bare socket.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "carrier/link.hpp"

namespace links {

using Bytes = std::vector<std::byte>;

Bytes pattern(std::size_t size, unsigned seed);

struct Received {
    fabric::wire::Header header;
    Bytes payload;
    bool placed;  // as end() was told
    bool ended;
};

// A packet handler that sends what it is given and keeps what comes.
class Packets final : public fabric::carrier::PacketHandler {
public:
    fabric::rc::Endpoint::Begin begin(const fabric::wire::Header& header,
                                      std::size_t payload_bytes) override;
    void end(bool placed) override;
    bool next_packet(fabric::rc::OutPacket& out) override;
    void link_lost() override { ++lost; }

    // The payload is handed over where it lies, as memory of this region (nullptr: copied at once,
    // at most 1024 bytes).
    void send(const fabric::wire::Header& header, std::span<std::byte> payload,
              const fabric::memory::Region* region);
    std::size_t count();  // packets that have ended
    Received at(std::size_t index);
    std::size_t waiting();  // given to send() and not yet asked for

    std::atomic<int> lost{0};
    std::atomic<int> begun{0};
    // What begin() answers.
    std::atomic<bool> refuse{false};         // fatal
    std::atomic<bool> throw_away{false};     // empty target
    std::atomic<std::byte*> place{nullptr};  // instead of a buffer of its own
    std::atomic<const fabric::memory::Region*> place_region{nullptr};  // of that place

private:
    struct Out {
        fabric::wire::Header header;
        std::span<std::byte> payload;
        const fabric::memory::Region* region;
    };
    std::mutex mutex_;
    std::deque<Out> out_;
    std::vector<Received> in_;
    fabric::memory::Segment target_;
};

class Control final : public fabric::carrier::ControlHandler {
public:
    void connected() override { ++ups; }
    void datagram(std::span<const std::byte> mad) override;
    void lost(int error) override {
        last_error = error;
        ++losses;
    }
    std::size_t count();
    Bytes at(std::size_t index);

    std::atomic<int> ups{0};
    std::atomic<int> losses{0};
    std::atomic<int> last_error{-1};

private:
    std::mutex mutex_;
    std::vector<Bytes> in_;
};

struct End {
    std::shared_ptr<fabric::carrier::Link> link;
    std::shared_ptr<Control> control = std::make_shared<Control>();
    std::shared_ptr<Packets> packets = std::make_shared<Packets>();
};

sockaddr_storage loopback(std::uint16_t port);

// Two links connected to each other, without packet handlers yet.
class Pair {
public:
    Pair();
    ~Pair();
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;
    void bind_packets();

    End a;
    End b;

private:
    std::unique_ptr<fabric::carrier::Listener> listener_;
};

// One link whose peer is a blocking socket of the test's.
class Bare {
public:
    // receive_buffer 0: the system's default
    explicit Bare(int receive_buffer = 0);
    ~Bare();
    Bare(const Bare&) = delete;
    Bare& operator=(const Bare&) = delete;

    void write(std::span<const std::byte> bytes) const;
    // False if the link was closed before so many bytes came.
    bool read(std::span<std::byte> out) const;
    // The next frame's packet, without the length in front.
    Bytes read_frame() const;
    void close_socket();
    void reset_socket();  // closes with RST

    End end;

private:
    int socket_ = -1;
};

// A whole frame: length, headers, payload, padding.
Bytes frame(fabric::wire::Header header, std::span<const std::byte> payload);
fabric::wire::Header write_header(std::uint32_t psn, std::size_t bytes);

}  // namespace links
