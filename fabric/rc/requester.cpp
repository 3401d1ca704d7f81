// SPDX-License-Identifier: BSD-3-Clause
#include "rc/requester.hpp"

#include <algorithm>
#include <cerrno>

#include "memory/persistence/door.hpp"
#include "rc/limits.hpp"
#include "rc/native.hpp"
#include "rc/post.hpp"
#include "rc/psn.hpp"
#include "rc/request_packet.hpp"
#include "rc/rnr_timer.hpp"

namespace fabric::rc {

namespace {

ibv_wc_opcode wc_opcode(Kind kind) {
    switch (kind) {
        case Kind::Write:
        case Kind::WriteImm:
            return IBV_WC_RDMA_WRITE;
        case Kind::Read:
            return IBV_WC_RDMA_READ;
        case Kind::CompareSwap:
            return IBV_WC_COMP_SWAP;
        case Kind::FetchAdd:
            return IBV_WC_FETCH_ADD;
        case Kind::Flush:
            return kWcFlush;
        case Kind::AtomicWrite:
            return kWcAtomicWrite;
        default:
            return IBV_WC_SEND;
    }
}

}  // namespace

Requester::Requester(Context& context, Inbound& inbound)
    : context_(context), inbound_(inbound), queue_(context.capacity) {}

template <typename Request>
int Requester::post(const Request& request) {
    const bool in_error = context_.state == IBV_QPS_ERR || context_.state == IBV_QPS_SQE;
    if (!in_error && !context_.sending()) {
        return EINVAL;
    }
    if (queue_.full()) {
        return ENOMEM;
    }
    if (in_error) {
        post_flushed(request.wr_id);
        return 0;
    }
    if (const int error = take(request, context_.capacity, queue_.next_free()); error != 0) {
        return error;
    }
    if (memory::persistence::on()) [[unlikely]] {
        mark(queue_.next_free());
    }
    queue_.push();
    if (!context_.link_up) {
        fail_front(IBV_WC_RETRY_EXC_ERR);
    }
    return 0;
}

// The slot's memory is left alone: the carrier may still be sending from it.
void Requester::post_flushed(std::uint64_t wr_id) {
    queue_.push();
    queue_.pop();
    reset_progress();
    SendRequest flushed{};
    flushed.wr_id = wr_id;
    complete(flushed, IBV_WC_WR_FLUSH_ERR);
}

template int Requester::post(const ibv_send_wr& request);
template int Requester::post(const Endpoint::NativeRequest& request);

void Requester::restart() {
    next_psn_ = context_.attributes.send_psn & wire::kPsnMask;
    unacknowledged_ = next_psn_;
    sent_end_ = next_psn_;
}

void Requester::clear() {
    queue_.clear();
    held_.clear();
    reset_progress();
}

void Requester::flush() {
    release_held();
    while (!queue_.empty()) {
        const SendRequest& request = queue_.front();
        queue_.pop();
        complete(request, IBV_WC_WR_FLUSH_ERR);
    }
    reset_progress();
}

void Requester::reset_progress() {
    cursor_ = {queue_.tail(), 0};
    started_ = queue_.tail();
    outstanding_ = 0;
    quiet_ = 0;
    retries_ = 0;
    rnr_tries_ = 0;
    probe_ = Probe::No;
    drained_reported_ = false;
    rnr_until_.reset();
    local_failure_.reset();
    reads_queued_ = 0;
    overtaking_queued_ = 0;
    hold_ = false;
}

void Requester::link_lost() {
    if (context_.sending() && !queue_.empty()) {
        fail_front(IBV_WC_RETRY_EXC_ERR);
    }
}

void Requester::report_drained() {
    if (context_.state == IBV_QPS_SQD) {
        release_held();
    }
    if (context_.state != IBV_QPS_SQD) {
        drained_reported_ = false;
    } else if (drained() && !drained_reported_) {
        drained_reported_ = true;
        context_.host.async_event(IBV_EVENT_SQ_DRAINED);
    }
}

bool Requester::heard_of_peer() const {
    return unacknowledged_ != (context_.attributes.send_psn & wire::kPsnMask) || retries_ != 0 ||
           rnr_tries_ != 0;
}

void Requester::tick() {
    if (rnr_until_ && context_.now >= *rnr_until_) {
        rnr_until_.reset();
    }
}

bool Requester::ready() const {
    const bool held = context_.state == IBV_QPS_SQD && cursor_.request == started_;
    return context_.sending() && cursor_.request != queue_.tail() && !held && !rnr_until_ &&
           !local_failure_ && probe_ != Probe::Sent;
}

bool Requester::next(OutPacket& out) {
    if (!ready()) {
        return false;
    }
    SendRequest& request = queue_.at(cursor_.request);
    if (blocked(request) || (cursor_.request == started_ && !start(request))) {
        return false;
    }
    if (!build_request(request, cursor_.packet, context_, out)) {
        fail_locally(IBV_WC_LOC_PROT_ERR);
        return false;
    }
    out.header.ack_request = wants_ack(request);
    if (memory::persistence::on()) [[unlikely]] {
        mark_packet(request, out.header);
    }
    seal(out);
    advance(request);
    return true;
}

// Fence, and the limit of reads and atomics in flight. With a limit of 0 the request goes on to
// fail.
bool Requester::blocked(const SendRequest& request) const {
    const bool fenced = request.fence && cursor_.packet == 0 && outstanding_ != 0;
    const std::uint32_t depth = std::max<std::uint32_t>(1, context_.attributes.max_rd_atomic);
    return fenced || (has_response(request.kind) && outstanding_ >= depth);
}

bool Requester::start(SendRequest& request) {
    if (const ibv_wc_status status = check_local(request, context_); status != IBV_WC_SUCCESS) {
        fail_locally(status);
        return false;
    }
    count_psns(request, context_.attributes.path_mtu);
    if (psn_distance(unacknowledged_, next_psn_) + request.psn_count > kPsnWindow) {
        return false;
    }
    request.first_psn = next_psn_;
    next_psn_ = psn_add(next_psn_, request.psn_count);
    ++started_;
    return true;
}

// An answer is needed for a completion; and now and then, so that the queue moves on and the
// numbers do not run out.
bool Requester::wants_ack(const SendRequest& request) {
    if (probe_ == Probe::Due) {
        return true;
    }
    if (has_response(request.kind) || cursor_.packet + 1 != request.psn_count) {
        return false;
    }
    return request.signaled || quiet_ >= context_.capacity.send_requests / kQuietShare;
}

void Requester::advance(const SendRequest& request) {
    const bool answered = has_response(request.kind);
    const std::uint32_t end = answered ? request.psn_count : cursor_.packet + 1;
    const std::uint32_t sent_end = psn_add(request.first_psn, end);
    if (psn_distance(unacknowledged_, sent_end) > psn_distance(unacknowledged_, sent_end_)) {
        sent_end_ = sent_end;
    }
    if (probe_ == Probe::Due) {
        probe_ = Probe::Sent;
    }
    cursor_.packet = end;
    if (end == request.psn_count) {
        cursor_ = {cursor_.request + 1, 0};
        outstanding_ += answered ? 1 : 0;
        quiet_ =
            answered || request.signaled || quiet_ >= context_.capacity.send_requests / kQuietShare
                ? 0
                : quiet_ + 1;
    }
}

void Requester::fail_locally(ibv_wc_status status) {
    local_failure_ = Failure{cursor_.request, status};
    meet_local_failure();
}

void Requester::meet_local_failure() {
    if (local_failure_ && local_failure_->request == queue_.head()) {
        fail_front(local_failure_->status);
    }
}

// Something new was acknowledged.
void Requester::progress() {
    retries_ = 0;
    rnr_tries_ = 0;
    probe_ = Probe::No;
    skip_acknowledged();
    report_drained();
    meet_local_failure();
}

// After going back, an answer to what was sent before can make sending it again needless.
void Requester::skip_acknowledged() {
    if (cursor_.request < queue_.head()) {
        cursor_ = {queue_.head(), 0};
    }
    if (cursor_.request == queue_.head() && queue_.head() < started_) {
        const SendRequest& request = queue_.front();
        const std::uint32_t done = psn_distance(request.first_psn, unacknowledged_);
        if (done < request.psn_count) {
            cursor_.packet = std::max(cursor_.packet, done);
        }
    }
}

// Sends again from the oldest PSN without an answer. A request that failed behind it is met again.
void Requester::go_back() {
    cursor_ = {queue_.head(), 0};
    outstanding_ = 0;
    local_failure_.reset();
    skip_acknowledged();
}

void Requester::lost() {
    if (retries_ >= context_.attributes.retry_count) {
        fail_front(IBV_WC_RETRY_EXC_ERR);
        return;
    }
    ++retries_;
    go_back();
}

void Requester::receiver_not_ready(std::uint8_t timer_code) {
    constexpr std::uint8_t kForEver = 7;
    const std::uint8_t limit = context_.attributes.rnr_retry;
    if (limit != kForEver && rnr_tries_ >= limit) {
        fail_front(IBV_WC_RNR_RETRY_EXC_ERR);
        return;
    }
    ++rnr_tries_;
    release_held();
    go_back();
    probe_ = Probe::Due;
    rnr_until_ = context_.now + rnr_delay(timer_code);
}

void Requester::finish_front() {
    const SendRequest& request = queue_.front();
    if (has_response(request.kind) && queue_.head() < cursor_.request) {
        --outstanding_;
    }
    queue_.pop();
    if (memory::persistence::on()) [[unlikely]] {
        finish_marked(request);
    } else if (request.signaled) {
        complete(request, IBV_WC_SUCCESS);
    }
}

void Requester::fail_front(ibv_wc_status status) {
    const SendRequest& request = queue_.front();
    local_failure_.reset();
    release_held();
    queue_.pop();
    complete(request, status);
    context_.enter_error();
}

void Requester::complete(const SendRequest& request, ibv_wc_status status) {
    Completion completion;
    completion.wc.wr_id = request.wr_id;
    completion.wc.status = status;
    completion.wc.opcode = wc_opcode(request.kind);
    completion.wc.byte_len = static_cast<std::uint32_t>(request.length);
    completion.wc.qp_num = context_.attributes.qp_number;
    completion.send_side = true;
    completion.send_slots = queue_.take_finished_slots();
    if (hold_) [[unlikely]] {  // they stay in order
        held_.push_back(completion);
    } else {
        context_.host.complete(completion);
    }
}

}  // namespace fabric::rc
