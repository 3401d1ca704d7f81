// SPDX-License-Identifier: BSD-3-Clause
#include "rc/send_queue.hpp"

#include <algorithm>

namespace fabric::rc {

namespace {

std::size_t stride_for(const Capacity& capacity) {
    const std::size_t sges = std::min(capacity.send_sge, kMaxSge) * sizeof(ibv_sge);
    const std::size_t inlined = std::min(capacity.inline_bytes, kMaxInline);
    const std::size_t bytes = sizeof(SendRequest) + std::max(sges, inlined);
    constexpr std::size_t kAlign = alignof(SendRequest);
    return (bytes + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

SendQueue::SendQueue(const Capacity& capacity)
    : capacity_(capacity.send_requests),
      stride_(stride_for(capacity)),
      storage_(make_array<std::byte>(stride_ * capacity_)) {}

SendRequest& SendQueue::at(std::uint64_t number) const {
    return *reinterpret_cast<SendRequest*>(storage_.get() + number % capacity_ * stride_);
}

void SendQueue::push() {
    ++tail_;
    slots_in_use_.fetch_add(1, std::memory_order_relaxed);
}

void SendQueue::pop() {
    ++head_;
    ++finished_slots_;
}

std::uint32_t SendQueue::take_finished_slots() {
    const std::uint32_t slots = finished_slots_;
    finished_slots_ = 0;
    return slots;
}

// Completions that outlived a reset must not free slots twice.
void SendQueue::release(std::uint32_t slots) {
    std::uint32_t used = slots_in_use_.load(std::memory_order_relaxed);
    while (!slots_in_use_.compare_exchange_weak(
        used, used - std::min(used, slots), std::memory_order_release, std::memory_order_relaxed)) {
    }
}

void SendQueue::clear() {
    head_ = tail_;
    finished_slots_ = 0;
    slots_in_use_.store(0, std::memory_order_release);
}

}  // namespace fabric::rc
