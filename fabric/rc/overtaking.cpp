// SPDX-License-Identifier: BSD-3-Clause
// Writes are posted, reads and flushes are not: a write right behind one may be executed first. For
// the account of persistent memory (doc/persistence-model.md) the peer is told of such writes, and
// nobody learns that the read or flush is done before the peer has met them.
#include "rc/requester.hpp"

namespace fabric::rc {

namespace {

bool flushes(Kind kind) {
    return kind == Kind::Read || kind == Kind::Flush;
}

// With an immediate, too: the receive that it takes does not hold its payload back.
bool is_posted_write(Kind kind) {
    return kind == Kind::Write || kind == Kind::WriteImm;
}

}  // namespace

// A request is about to be queued. What counts is whether the program can know by now that a read
// or flush in front of it is done: whether it has polled the completion, not when that came.
void Requester::mark(SendRequest& request) {
    const bool may = is_posted_write(request.kind) && !request.fence;
    if (may && !hold_) {
        context_.host.recall(held_);
        hold_ = !held_.empty();
    }
    request.overtakes = may && (reads_queued_ != 0 || hold_);
    overtaking_queued_ += request.overtakes ? 1U : 0U;
    reads_queued_ += flushes(request.kind) ? 1U : 0U;
}

// The peer is to know, and an answer is needed for what is held back.
void Requester::mark_packet(const SendRequest& request, wire::Header& header) const {
    header.overtakes = request.overtakes;
    header.ack_request =
        header.ack_request || (request.overtakes && cursor_.packet + 1 == request.psn_count);
}

// A request has left the queue, and is to be completed.
void Requester::finish_marked(const SendRequest& request) {
    overtaking_queued_ -= request.overtakes ? 1U : 0U;
    if (flushes(request.kind)) {
        --reads_queued_;
        hold_ = hold_ || overtaking_queued_ != 0;
    }
    if (request.signaled) {
        complete(request, IBV_WC_SUCCESS);
    }
    if (hold_ && overtaking_queued_ == 0) {
        release_held();
    }
}

void Requester::release_held() {
    hold_ = false;
    while (!held_.empty()) {
        const Completion completion = held_.front();
        held_.pop_front();
        context_.host.complete(completion);
    }
}

}  // namespace fabric::rc
