// SPDX-License-Identifier: BSD-3-Clause
// The sending half of a TCP link: gathers packets into as few sendmsg() calls as the socket takes.
// Headers and inline data are copied, registered memory is handed to the kernel where it lies.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "carrier/link.hpp"
#include "carrier/tunables.hpp"

namespace fabric::carrier {

// Not thread-safe: the link's send lock is held around every call.
class Sender {
public:
    enum class Result {
        Idle,     // everything is with the kernel
        Blocked,  // the socket is full
        Again,    // the budget is used up, there may be more
        Failed    // errno; EFAULT: the program unmapped memory that it had registered; kCutError
    };

    explicit Sender(std::uint64_t link) : link_(link) {}

    void queue_datagram(std::span<const std::byte> mad);
    // Sends until nothing is left or the socket is full. `packets` may be nullptr.
    Result flush(int fd, PacketHandler* packets);
    // What is under way and lies in this region is copied; nothing refers to the region afterwards.
    void forget(const memory::Region* region);

private:
    // What waits for the kernel. Made at the first use, so that an idle link costs little.
    struct Batch {
        std::array<iovec, kSendPieces> pieces;
        std::array<const memory::Region*, kSendPieces> regions;  // nullptr: not registered memory
        std::size_t first = 0;
        std::size_t count = 0;
        std::array<std::byte, kSendStaging> staging;
        std::size_t staged = 0;
        std::vector<std::unique_ptr<std::byte[]>> copies;  // of regions that went while under way
        rc::OutPacket packet;                              // the one being added
    };

    bool has_room() const;
    void gather(PacketHandler* packets);
    void add_datagrams();
    void add_packet();
    void cut_behind(std::size_t bytes);
    void add_payload(std::span<const memory::Segment> source, std::size_t bytes);
    std::byte* stage(std::size_t bytes);
    void add_copy(std::span<const std::byte> bytes);
    void add_reference(const memory::Segment& piece);
    void advance(std::size_t bytes);
    ssize_t send_batch(int fd);

    const std::uint64_t link_;
    std::uint32_t datagram_psn_ = 0;
    std::unique_ptr<Batch> batch_;
    std::vector<std::array<std::byte, 256>> datagrams_;
    bool unreadable_ = false;  // a packet that has begun cannot be finished
    bool cut_ = false;         // nothing goes out behind what is in the batch
};

}  // namespace fabric::carrier
