// SPDX-License-Identifier: BSD-3-Clause
#include "rc/receive_queue.hpp"

#include <algorithm>
#include <cerrno>

namespace fabric::rc {

OwnReceiveQueue::OwnReceiveQueue(const Capacity& capacity)
    : capacity_(capacity.receive_requests),
      sge_limit_(std::min(capacity.receive_sge, kMaxSge)),
      entries_(make_array<Entry>(capacity_)),
      sges_(make_array<ibv_sge>(std::size_t{capacity_} * sge_limit_)) {}

int OwnReceiveQueue::push(const ibv_recv_wr& wr) {
    if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > sge_limit_) {
        return EINVAL;
    }
    if (tail_ - head_ >= capacity_) {
        return ENOMEM;
    }
    entries_[tail_ % capacity_] = {wr.wr_id, static_cast<std::uint32_t>(wr.num_sge)};
    std::copy_n(wr.sg_list, wr.num_sge, sges_of(tail_));
    ++tail_;
    return 0;
}

bool OwnReceiveQueue::pop(ReceiveRequest& out) {
    if (head_ == tail_) {
        return false;
    }
    const Entry& entry = entries_[head_ % capacity_];
    out.wr_id = entry.wr_id;
    out.num_sge = entry.num_sge;
    std::copy_n(sges_of(head_), entry.num_sge, out.sge.begin());
    ++head_;
    return true;
}

}  // namespace fabric::rc
