// SPDX-License-Identifier: BSD-3-Clause
// Where things lie in the memory of both sides. A slot is what one batch of operations uses; no two
// batches in flight share one.
#pragma once

#include <cstddef>

#include "case.hpp"

namespace perf {

inline constexpr std::size_t kLine = 64;            // bytes of a cache line
inline constexpr std::size_t kCommitSize = 8;       // of an atomic write
inline constexpr std::size_t kPersistMessage = 16;  // request and answer of Op::persist

class Layout {
public:
    explicit Layout(const Case& point)
        : size_(point.size),
          batch_(point.batch),
          slots_(point.slots()),
          data_(round_up(point.size * point.batch)),
          reply_size_(point.op == Op::pingpong ? point.size : kPersistMessage),
          replies_(point.op == Op::pingpong ? point.batch : 1) {}

    // In the target's region: windows of the connections, in them slots: data, then a line for the
    // commit word.
    [[nodiscard]] std::size_t slot_size() const { return data_ + kLine; }
    [[nodiscard]] std::size_t window() const { return slots_ * slot_size(); }
    [[nodiscard]] std::size_t remote_data(std::size_t connection, std::size_t slot) const {
        return connection * window() + slot * slot_size();
    }
    [[nodiscard]] std::size_t commit_in_slot() const { return data_; }

    // In a connection's local memory: data to write or read into, messages, copies to compare.
    [[nodiscard]] std::size_t local_data(std::size_t slot) const { return slot * data_; }
    [[nodiscard]] std::size_t request(std::size_t slot) const {
        return slots_ * data_ + slot * kPersistMessage;
    }
    [[nodiscard]] std::size_t reply(std::size_t slot) const {
        return round_up(request(slots_)) + slot * replies_ * reply_size_;
    }
    [[nodiscard]] std::size_t check_copy(std::size_t slot) const {
        return round_up(reply(slots_)) + slot * slot_size();
    }
    [[nodiscard]] std::size_t local_size() const { return check_copy(slots_); }

    [[nodiscard]] std::size_t batch_bytes() const { return size_ * batch_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t batch() const { return batch_; }
    [[nodiscard]] std::size_t slots() const { return slots_; }
    [[nodiscard]] std::size_t reply_size() const { return reply_size_; }

private:
    static std::size_t round_up(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

    std::size_t size_;
    std::size_t batch_;
    std::size_t slots_;
    std::size_t data_;
    std::size_t reply_size_;
    std::size_t replies_;
};

}  // namespace perf
