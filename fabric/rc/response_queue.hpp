// SPDX-License-Identifier: BSD-3-Clause
// The responder resources: reads to be answered, and results of atomics that are kept in case the
// requester asks again.
#pragma once

#include <cstdint>
#include <memory>

#include "wire/packet.hpp"

namespace fabric::rc {

struct Response {
    enum class Kind : std::uint8_t {
        Read,
        Atomic,
        Empty
    };  // Empty: the answer to FLUSH and ATOMIC WRITE

    Kind kind = Kind::Empty;
    bool pending = false;   // still to be sent
    std::uint32_t psn = 0;  // of the first response packet
    std::uint32_t psn_count = 1;
    std::uint32_t begin = 0;     // Read: PSN offset where the requester wants it from
    std::uint32_t sent = 0;      // Read: PSN offset that is sent next
    std::uint32_t length = 0;    // Read
    std::uint32_t rkey = 0;      // Read
    std::uint64_t address = 0;   // Read
    std::uint64_t original = 0;  // Atomic
};

// A ring in PSN order. Holds as many entries as the peer was told it may have in flight, so it
// cannot be made to grow.
class ResponseQueue {
public:
    void resize(std::uint32_t limit);  // also drops everything
    void grow(std::uint32_t limit);    // keeps everything; never shrinks
    void clear();

    bool full() const { return pending_ == limit_; }
    bool any_pending() const { return pending_ != 0; }
    void push(const Response& response);  // only if not full; the oldest answered entry makes room

    // The oldest entry that is to be sent, or nullptr.
    Response* next_pending();
    void sent(Response& response);
    // The entry that covers this PSN, or nullptr.
    Response* find(std::uint32_t psn);
    void send_again(Response& response, std::uint32_t from);

    // Forgets what answers PSNs from this one on.
    void drop_from(std::uint32_t psn);

private:
    Response& at(std::uint64_t number) const { return entries_[number % limit_]; }

    std::unique_ptr<Response[]> entries_;
    std::uint32_t limit_ = 0;
    std::uint32_t pending_ = 0;
    std::uint64_t head_ = 0;
    std::uint64_t tail_ = 0;
    std::uint64_t cursor_ = 0;  // nothing before it is pending
};

}  // namespace fabric::rc
