// SPDX-License-Identifier: BSD-3-Clause
#include "rc/responder.hpp"

#include <algorithm>

#include "memory/persistence/door.hpp"
#include "memory/table.hpp"
#include "rc/limits.hpp"
#include "rc/psn.hpp"
#include "rc/request_shape.hpp"
#include "rc/syndrome.hpp"

namespace fabric::rc {

using wire::Opcode;
namespace persistence = memory::persistence;

namespace {

constexpr std::uint64_t kWord = sizeof(std::uint64_t);

Response response_to(const wire::Header& header, std::uint32_t mtu) {
    Response response;
    response.pending = true;
    response.psn = header.psn;
    if (header.opcode == Opcode::ReadRequest) {
        response.kind = Response::Kind::Read;
        response.psn_count = packets_for(header.dma_length, mtu);
        response.length = header.dma_length;
        response.rkey = header.rkey;
        response.address = header.remote_address;
    }
    return response;
}

// The account of a word that an operation changes, or not.
class WordAccount {
public:
    WordAccount(std::uint32_t connection, persistence::Kind kind, const memory::Segment& word)
        : operation_(persistence::on() ? persistence::placing(connection, kind, {&word, 1})
                                       : nullptr) {}
    void changed(bool is) {
        if (operation_ != nullptr) {
            persistence::placed(operation_, is, false);
        }
    }

private:
    persistence::Operation* operation_;
};

// A read asked for again must be the rest of the read that was asked for first.
bool is_rest_of(const Response& read, const wire::Header& header, std::uint32_t from,
                std::uint32_t mtu) {
    const std::uint64_t skipped = std::uint64_t{from} * mtu;
    return read.rkey == header.rkey && read.address + skipped == header.remote_address &&
           read.length - skipped == header.dma_length;
}

}  // namespace

Responder::Responder(Context& context, Inbound& inbound) : context_(context), inbound_(inbound) {}

void Responder::restart() {
    expected_psn_ = context_.attributes.receive_psn & wire::kPsnMask;
    connected_ = true;
    dropped_until_.reset();
    msn_ = 0;
    responses_.resize(context_.attributes.max_dest_rd_atomic);
}

void Responder::clear() {
    if (owes_answer()) {
        ask_later();
    }
    expect_unsent();
    message_ = Message::None;
    has_receive_ = false;
    responses_.clear();
    nak_.reset();
    nak_sent_ = false;
    failed_ = false;
    ack_due_ = false;
    unacknowledged_ = false;
    lazy_until_.reset();
}

void Responder::flush() {
    if (has_receive_) {
        complete_failed(IBV_WC_WR_FLUSH_ERR);
    }
    message_ = Message::None;
    if (failed_) {
        return;
    }
    const bool unsent = responses_.any_pending();
    if (unsent || nak_ || inbound_.owner == Inbound::Owner::Responder) {
        ask_later();
    }
    // What was taken in is acknowledged even now, so that the peer does not see it fail; but no
    // longer behind unsent responses.
    ack_due_ = unacknowledged_ && !unsent;
    expect_unsent();
    responses_.clear();
    nak_.reset();
    lazy_until_.reset();
}

bool Responder::owes_answer() const {
    return responses_.any_pending() || nak_ || unacknowledged_ || dropped_until_ ||
           inbound_.owner == Inbound::Owner::Responder;
}

bool Responder::heard_of_peer() const {
    return connected_ &&
           (expected_psn_ != (context_.attributes.receive_psn & wire::kPsnMask) || nak_sent_);
}

// What is answered already is not dropped.
void Responder::drop(std::uint32_t psn) {
    if (connected_ && !failed_ && !psn_before(psn, expected_psn_)) {
        ask_later();
    }
}

// What will not be sent any more can only be asked for again.
void Responder::expect_unsent() {
    if (const Response* const unsent = responses_.next_pending()) {
        expected_psn_ = psn_add(unsent->psn, unsent->sent);
    }
}

// In these states an adapter is silent, and its peer tries again each time its patience is at an
// end, until its tries are. Over a stream nobody loses patience while the other side lives, so the
// peer is told to try again.
void Responder::ask_later() {
    if (!dropped_until_) {
        dropped_until_ = context_.now + kDroppedTime;
    }
}

std::optional<TimePoint> Responder::deadline() const {
    if (lazy_until_ && dropped_until_) {
        return std::min(lazy_until_, dropped_until_);
    }
    return lazy_until_ ? lazy_until_ : dropped_until_;
}

void Responder::tick() {
    if (dropped_until_ && context_.now >= *dropped_until_) {
        dropped_until_.reset();
        nak_ = Nak{kNakSequence, expected_psn_};
    }
    if (lazy_until_ && context_.now >= *lazy_until_) {
        lazy_until_.reset();
        acknowledge();
    }
}

void Responder::begin(const wire::Header& header, std::uint32_t payload) {
    if (!context_.receiving()) {
        return;
    }
    if (header.psn == expected_psn_) {
        begin_next(header, payload);
    } else if (psn_before(header.psn, expected_psn_)) {
        begin_duplicate(header);
    } else {
        ask_again(header.psn);
    }
}

void Responder::begin_next(const wire::Header& header, std::uint32_t payload) {
    nak_sent_ = false;
    const Fault fault =
        context_.filter == nullptr ? check(header, payload) : check_filtered(header, payload);
    if (fault == Fault::None) {
        inbound_.owner = Inbound::Owner::Responder;
    } else {
        fail(fault, expected_psn_);
    }
}

// Something between was lost. Said once; what follows is dropped until the missing packet comes, or
// until the numbers jump back: then the peer has tried again, and the packet was lost again.
void Responder::ask_again(std::uint32_t psn) {
    const bool follows = psn_before(ahead_psn_, psn);
    ahead_psn_ = psn;
    if (!nak_sent_ || !follows) {
        nak_sent_ = true;
        nak_ = Nak{kNakSequence, expected_psn_};
    }
}

// Already taken in: sends and writes are acknowledged again, reads are read again, atomics answered
// from what was kept.
void Responder::begin_duplicate(const wire::Header& header) {
    if (is_send(header.opcode) || is_write(header.opcode)) {
        unacknowledged_ = true;
        ack_due_ = true;
        return;
    }
    Response* const kept = responses_.find(header.psn);
    if (kept == nullptr ||
        (kept->kind == Response::Kind::Read) != (header.opcode == Opcode::ReadRequest)) {
        return;
    }
    const std::uint32_t from = psn_distance(kept->psn, header.psn);
    if (kept->kind == Response::Kind::Read &&
        !is_rest_of(*kept, header, from, context_.attributes.path_mtu)) {
        return;
    }
    responses_.send_again(*kept, from);
}

void Responder::end(bool placed) {
    const wire::Header& header = inbound_.header;
    if (!placed) {
        fail(is_send(header.opcode) ? Fault::LocalProtection : Fault::RemoteAccess, expected_psn_);
    } else if (is_send(header.opcode)) {
        finish_send(header);
    } else if (is_write(header.opcode)) {
        finish_write(header);
    } else if (const Fault fault = execute(header); fault != Fault::None) {
        fail(fault, expected_psn_);
    }
}

void Responder::finish_send(const wire::Header& header) {
    message_bytes_ += inbound_.payload;
    message_ = goes_on(header.opcode) ? Message::Send : Message::None;
    taken_in(header, false);
    if (message_ == Message::None) {
        complete_receive(header, IBV_WC_RECV);
    }
}

void Responder::finish_write(const wire::Header& header) {
    message_bytes_ += inbound_.payload;
    message_ = goes_on(header.opcode) ? Message::Write : Message::None;
    taken_in(header, false);
    if (has_immediate(header.opcode)) {
        complete_receive(header, IBV_WC_RECV_RDMA_WITH_IMM);
    }
}

// Requests that are answered by a response of their own.
Responder::Fault Responder::execute(const wire::Header& header) {
    switch (header.opcode) {
        case Opcode::CompareSwap:
        case Opcode::FetchAdd:
            return execute_atomic(header);
        case Opcode::AtomicWrite:
            if (const Fault fault = execute_atomic_write(header); fault != Fault::None) {
                return fault;
            }
            break;
        case Opcode::Flush: {
            const auto range = flush_range(header);
            if (!range) {
                return Fault::RemoteAccess;
            }
            if (!memory::flush(*range, header.flush_type)) {
                return Fault::Operation;
            }
            if (persistence::on()) {
                persistence::flush_executed(context_.attributes.qp_number, *range,
                                            header.flush_type);
            }
            break;
        }
        case Opcode::ReadRequest:
            if (persistence::on()) {
                persistence::read_executed(context_.attributes.qp_number, header.dma_length);
            }
            break;
        default:
            break;
    }
    responses_.push(response_to(header, context_.attributes.path_mtu));
    taken_in(header, true);
    return Fault::None;
}

Responder::Fault Responder::execute_atomic(const wire::Header& header) {
    Response response = response_to(header, context_.attributes.path_mtu);
    response.kind = Response::Kind::Atomic;
    const auto word = memory::Table::instance().find(
        header.rkey, context_.host.pd(), header.remote_address, kWord, IBV_ACCESS_REMOTE_ATOMIC);
    if (!word) {
        return Fault::RemoteAccess;
    }
    const bool compares = header.opcode == Opcode::CompareSwap;
    WordAccount account(context_.attributes.qp_number,
                        compares ? persistence::Kind::CompareSwap : persistence::Kind::FetchAdd,
                        *word);
    const bool done = compares ? memory::compare_swap(*word, header.compare, header.swap_or_add,
                                                      &response.original)
                               : memory::fetch_add(*word, header.swap_or_add, &response.original);
    account.changed(done && (!compares || response.original == header.compare));
    if (!done) {
        return Fault::RemoteAccess;
    }
    responses_.push(response);
    taken_in(header, true);
    return Fault::None;
}

Responder::Fault Responder::execute_atomic_write(const wire::Header& header) {
    const auto word = memory::Table::instance().find(
        header.rkey, context_.host.pd(), header.remote_address, kWord, IBV_ACCESS_REMOTE_WRITE);
    if (!word) {
        return Fault::RemoteAccess;
    }
    WordAccount account(context_.attributes.qp_number, persistence::Kind::AtomicWrite, *word);
    const bool done = memory::atomic_write(*word, inbound_.word);
    account.changed(done);
    return done ? Fault::None : Fault::RemoteAccess;
}

// `answered`: a response is in the queue that acknowledges everything up to this request.
void Responder::taken_in(const wire::Header& header, bool answered) {
    const std::uint32_t count = header.opcode == Opcode::ReadRequest
                                    ? packets_for(header.dma_length, context_.attributes.path_mtu)
                                    : 1;
    expected_psn_ = psn_add(expected_psn_, count);
    if (message_ == Message::None) {
        msn_ = psn_add(msn_, 1);
    }
    unacknowledged_ = !answered;
    ack_due_ = !answered && (ack_due_ || header.ack_request);
    if (!answered && !ack_due_ && !lazy_until_) {
        lazy_until_ = context_.now + kLazyAckDelay;
    }
}

void Responder::complete_receive(const wire::Header& header, ibv_wc_opcode opcode) {
    Completion completion;
    completion.wc.wr_id = receive_.wr_id;
    completion.wc.status = IBV_WC_SUCCESS;
    completion.wc.opcode = opcode;
    completion.wc.byte_len = static_cast<std::uint32_t>(message_bytes_);
    completion.wc.qp_num = context_.attributes.qp_number;
    completion.wc.src_qp = context_.attributes.destination_qp;
    if (has_immediate(header.opcode)) {
        completion.wc.wc_flags = IBV_WC_WITH_IMM;
        completion.wc.imm_data = header.immediate;
    }
    completion.solicited = header.solicited;
    has_receive_ = false;
    if (persistence::on()) {
        persistence::message_completed(context_.attributes.qp_number);
    }
    context_.host.complete(completion);
}

void Responder::complete_failed(ibv_wc_status status) {
    Completion completion;
    completion.wc.wr_id = receive_.wr_id;
    completion.wc.status = status;
    completion.wc.opcode = IBV_WC_RECV;
    completion.wc.qp_num = context_.attributes.qp_number;
    has_receive_ = false;
    context_.host.complete(completion);
}

}  // namespace fabric::rc
