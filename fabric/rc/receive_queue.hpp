// SPDX-License-Identifier: BSD-3-Clause
// A queue pair's own receive queue. All memory is taken at creation.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "array.hpp"
#include "rc/endpoint.hpp"

namespace fabric::rc {

class OwnReceiveQueue final : public ReceiveQueue {
public:
    // Use valid() after it.
    explicit OwnReceiveQueue(const Capacity& capacity);
    bool valid() const { return entries_ != nullptr && sges_ != nullptr; }

    // 0; EINVAL more elements than the queue was made for; ENOMEM full.
    int push(const ibv_recv_wr& wr);
    bool pop(ReceiveRequest& out) override;
    void clear() { head_ = tail_; }

private:
    struct Entry {
        std::uint64_t wr_id;
        std::uint32_t num_sge;
    };
    ibv_sge* sges_of(std::uint64_t number) const {
        return sges_.get() + number % capacity_ * sge_limit_;
    }

    std::uint32_t capacity_;
    std::uint32_t sge_limit_;
    Array<Entry> entries_;
    Array<ibv_sge> sges_;
    std::uint64_t head_ = 0;
    std::uint64_t tail_ = 0;
};

}  // namespace fabric::rc
