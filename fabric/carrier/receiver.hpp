// SPDX-License-Identifier: BSD-3-Clause
// The receiving half of a TCP link: finds frames in a byte stream and takes packets to their
// handler. Large payloads are read by the kernel straight into their place, small ones are
// collected whole so that an 8-byte word is never torn.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carrier/link.hpp"
#include "carrier/tunables.hpp"
#include "wire/packet.hpp"

namespace fabric::carrier {

inline constexpr std::size_t kMadBytes = 256;
using Mad = std::array<std::byte, kMadBytes>;

// Not thread-safe: the link's receive lock is held around every call. A round is load(), any number
// of fill() and parse(), save(); only the engine's thread makes rounds.
class Receiver {
public:
    // A round's buffer: room for what was kept, and for one read behind it.
    using Scratch = std::array<std::byte, 3 * kScratchRead>;

    enum class Fill {
        Some,     // bytes came, there may be more
        Drained,  // bytes came, the socket is empty now
        Nothing,
        End,    // the peer has closed its side
        Failed  // errno
    };
    enum class Parse {
        Hungry,    // needs more bytes
        Datagram,  // one management datagram was copied out; parse again
        Stalled,   // the next packet has nobody to take it
        Discards,  // as Hungry, and packets were thrown away because their queue pair is gone
        Broken     // the peer does not speak the protocol
    };

    explicit Receiver(std::uint64_t link) : link_(link) {}

    void load(Scratch& scratch);
    Fill fill(int fd, std::size_t* bytes);
    // `packets` may be nullptr: then packets stall the link, or are thrown away after detach().
    Parse parse(PacketHandler* packets, bool take_datagrams, Mad& mad);
    void save();

    bool kept_input() const { return !kept_.empty(); }
    bool took_packets() const { return took_packets_; }  // since load()
    void attach();
    // The handler goes: nothing of a payload under way is placed any more.
    void detach();
    // Nothing is placed in this region any more.
    void forget(const memory::Region* region);

private:
    struct Frame {
        wire::Header header;
        std::size_t header_bytes;
        std::size_t payload_bytes;
    };

    std::span<std::byte> input() { return {scratch_->data() + first_, last_ - first_}; }
    bool whole(std::size_t* frame_bytes, bool* broken);
    bool read_frame(std::size_t frame_bytes, Frame& out);
    bool take_datagram(const Frame& frame, Mad& mad);
    bool take_packet(const Frame& frame, PacketHandler& packets);
    void skip_packet(const Frame& frame);
    void start_stream(std::size_t payload_bytes, std::uint8_t pad, memory::Target target);
    void stream_from_input(PacketHandler* packets);
    void stream_done(PacketHandler* packets);
    void record_frame(const Frame& frame);

    const std::uint64_t link_;
    Scratch* scratch_ = nullptr;
    std::size_t first_ = 0;
    std::size_t last_ = 0;
    std::vector<std::byte> kept_;  // input between rounds

    // A large payload under way.
    bool streaming_ = false;
    bool owed_ = false;     // its handler waits for end()
    bool placing_ = false;  // its bytes go to target_ (else they are thrown away)
    bool placed_ = false;   // so far all of them got there
    memory::Target target_;
    std::size_t offset_ = 0;
    std::size_t size_ = 0;
    std::size_t pad_ = 0;  // bytes of padding still to be skipped

    // Of a payload under way, if frames are recorded: its packet so far, else empty.
    std::vector<std::byte> record_;

    bool bulk_ = false;             // the last packet was a large one
    std::size_t next_headers_ = 0;  // then only so many bytes are read behind its payload
    bool took_packets_ = false;
    bool detached_ = false;
};

}  // namespace fabric::carrier
