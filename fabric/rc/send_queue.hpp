// SPDX-License-Identifier: BSD-3-Clause
// The ring of posted send work requests. All memory is taken at creation.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "array.hpp"
#include "rc/endpoint.hpp"

namespace fabric::rc {

enum class Kind : std::uint8_t {
    Send,
    SendImm,
    SendInvalidate,
    Write,
    WriteImm,
    Read,
    CompareSwap,
    FetchAdd,
    Flush,
    AtomicWrite,
};

// Answered by a response of its own, not by a plain acknowledgement; counts against max_rd_atomic.
constexpr bool has_response(Kind kind) {
    return kind >= Kind::Read;
}
// The response brings data into the memory that the request names.
constexpr bool brings_data(Kind kind) {
    return kind >= Kind::Read && kind <= Kind::FetchAdd;
}

// A work request as the transport keeps it. Its scatter/gather list or its inline data lie right
// behind it.
struct SendRequest {
    std::uint64_t wr_id;
    std::uint64_t remote_address;
    std::uint64_t swap_or_add;
    std::uint64_t compare;
    std::uint64_t length;  // bytes of the message; more than kMaxMessage fails when it is executed
    std::uint32_t rkey;
    std::uint32_t immediate;  // network order; for SendInvalidate the rkey
    std::uint32_t first_psn;  // valid once started
    std::uint32_t psn_count;
    std::uint32_t received;  // Read: response packets that have arrived
    Kind kind;
    std::uint8_t sge_count;  // 0 for inline data
    std::uint8_t flush_type;
    std::uint8_t flush_level;
    bool signaled;
    bool solicited;
    bool fence;
    bool is_inline;
    bool overtakes;                  // set and read by overtaking.cpp only
    std::array<std::byte, 8> value;  // AtomicWrite

    std::uint32_t last_psn() const { return (first_psn + psn_count - 1) & wire::kPsnMask; }
    std::byte* tail() { return reinterpret_cast<std::byte*>(this + 1); }
    ibv_sge* sge_storage() { return reinterpret_cast<ibv_sge*>(tail()); }
    std::span<const ibv_sge> sges() const {
        return {reinterpret_cast<const ibv_sge*>(this + 1), sge_count};
    }
};

// Requests are numbered from 0 upwards; those in [head, tail) are in the ring.
// A slot is free again only when the program has polled a completion that covers it, so slots in
// use can outnumber requests.
class SendQueue {
public:
    // Use valid() after it.
    explicit SendQueue(const Capacity& capacity);
    bool valid() const { return storage_ != nullptr; }

    // Never too much: other threads only give slots back.
    std::uint32_t room() const { return capacity_ - slots_in_use_.load(std::memory_order_acquire); }
    bool full() const { return slots_in_use_.load(std::memory_order_acquire) >= capacity_; }
    bool empty() const { return head_ == tail_; }
    std::uint64_t head() const { return head_; }
    std::uint64_t tail() const { return tail_; }
    SendRequest& at(std::uint64_t number) const;
    SendRequest& front() const { return at(head_); }

    SendRequest& next_free() const { return at(tail_); }  // to be filled, then push()ed
    void push();
    // The front request is done. Slots that a completion for it must give back are returned by
    // take_finished_slots().
    void pop();
    std::uint32_t take_finished_slots();

    void release(std::uint32_t slots);  // thread-safe
    void clear();

private:
    std::uint32_t capacity_;
    std::size_t stride_;
    Array<std::byte> storage_;
    std::uint64_t head_ = 0;
    std::uint64_t tail_ = 0;
    std::uint32_t finished_slots_ = 0;
    std::atomic<std::uint32_t> slots_in_use_{0};
};

}  // namespace fabric::rc
