// SPDX-License-Identifier: BSD-3-Clause
#include "rc/response_queue.hpp"

#include <algorithm>

#include "rc/psn.hpp"

namespace fabric::rc {

void ResponseQueue::resize(std::uint32_t limit) {
    if (limit != limit_) {
        entries_.reset(new Response[limit]);
        limit_ = limit;
    }
    clear();
}

void ResponseQueue::grow(std::uint32_t limit) {
    if (limit <= limit_) {
        return;
    }
    std::unique_ptr<Response[]> larger(new Response[limit]);
    for (std::uint64_t number = head_; number != tail_; ++number) {
        larger[number % limit] = at(number);
    }
    entries_.swap(larger);
    limit_ = limit;
}

void ResponseQueue::clear() {
    pending_ = 0;
    head_ = 0;
    tail_ = 0;
    cursor_ = 0;
}

// With a free place in the count of pending ones, the oldest may still be pending (sent again):
// then its fellows behind it are not, and the requester that asked for it has not got further than
// it. It is given up; a requester by the book does not do this.
void ResponseQueue::push(const Response& response) {
    if (tail_ - head_ == limit_) {
        pending_ -= at(head_).pending ? 1U : 0U;
        ++head_;
        cursor_ = std::max(cursor_, head_);
    }
    at(tail_++) = response;
    pending_ += response.pending ? 1 : 0;
}

Response* ResponseQueue::next_pending() {
    if (pending_ == 0) {
        return nullptr;
    }
    while (!at(cursor_).pending) {
        ++cursor_;
    }
    return &at(cursor_);
}

void ResponseQueue::sent(Response& response) {
    response.pending = false;
    --pending_;
}

Response* ResponseQueue::find(std::uint32_t psn) {
    for (std::uint64_t number = head_; number != tail_; ++number) {
        Response& entry = at(number);
        if (psn_distance(entry.psn, psn) < entry.psn_count) {
            cursor_ = std::min(cursor_, number);
            return &entry;
        }
    }
    return nullptr;
}

void ResponseQueue::send_again(Response& response, std::uint32_t from) {
    pending_ += response.pending ? 0 : 1;
    response.pending = true;
    response.begin = from;
    response.sent = from;
}

void ResponseQueue::drop_from(std::uint32_t psn) {
    while (tail_ != head_ && !psn_before(at(tail_ - 1).psn, psn)) {
        --tail_;
        pending_ -= at(tail_).pending ? 1U : 0U;
    }
    if (tail_ != head_ && at(tail_ - 1).pending &&
        psn_distance(at(tail_ - 1).psn, psn) < at(tail_ - 1).psn_count) {
        sent(at(tail_ - 1));
    }
    cursor_ = std::min(cursor_, tail_);
}

}  // namespace fabric::rc
