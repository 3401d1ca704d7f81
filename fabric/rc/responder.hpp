// SPDX-License-Identifier: BSD-3-Clause
// The receiving half: checks and executes request packets, and answers them (IBTA vol. 1, 9.7.4
// and 9.7.5).
#pragma once

#include <optional>

#include "rc/context.hpp"
#include "rc/response_queue.hpp"

namespace fabric::rc {

class Responder {
public:
    Responder(Context& context, Inbound& inbound);

    void restart();  // takes over the attributes
    void widen() { responses_.grow(context_.attributes.max_dest_rd_atomic); }  // the same, later
    void clear();  // drops everything silently
    void flush();  // completes the receive that is under way as flushed; keeps the answer to a
                   // fatal request

    void begin(const wire::Header& header, std::uint32_t payload);
    void end(bool placed);
    void drop(std::uint32_t psn);  // a request that came in state ERR, RESET or INIT
    bool owes_answer() const;      // a request of the peer has none yet
    bool heard_of_peer() const;    // since restart()
    void acknowledge() { ack_due_ = ack_due_ || unacknowledged_; }

    // The next response or acknowledgement. `hurry`: what was taken in is to be acknowledged now,
    // asked for or not.
    bool next(OutPacket& out, bool hurry);

    std::optional<TimePoint> deadline() const;
    void tick();  // context.now has changed

private:
    // Why a request is not executed.
    enum class Fault : std::uint8_t {
        None,
        NotReady,  // no receive is posted
        InvalidRequest,
        RemoteAccess,
        TooLong,          // for the receive that was posted
        LocalProtection,  // the receive names memory that it may not write
        Operation,        // the responder could not do it
    };
    enum class Message : std::uint8_t { None, Send, Write };
    // How a failed request is reported: to the peer, in the receive it used up, and, unless that
    // receive tells all, by an event.
    struct LastWord {
        std::uint8_t syndrome;
        ibv_wc_status status;
        std::optional<ibv_event_type> event;
    };
    struct Nak {
        std::uint8_t syndrome;
        std::uint32_t psn;
    };

    // responder_checks.cpp
    Fault check(const wire::Header& header, std::uint32_t payload);
    Fault check_send(const wire::Header& header, std::uint32_t payload);
    Fault check_write(const wire::Header& header, std::uint32_t payload);
    Fault check_write_start(const wire::Header& header, std::uint32_t payload);
    Fault check_read(const wire::Header& header, std::uint32_t payload);
    Fault check_atomic(const wire::Header& header, std::uint32_t payload);
    Fault check_atomic_write(const wire::Header& header, std::uint32_t payload);
    Fault check_flush(const wire::Header& header, std::uint32_t payload);
    Fault check_filtered(const wire::Header& header, std::uint32_t payload);
    bool allowed(unsigned access) const { return (context_.attributes.access & access) == access; }
    bool take_receive();
    std::optional<memory::Segment> flush_range(const wire::Header& header) const;

    // responder.cpp
    void begin_next(const wire::Header& header, std::uint32_t payload);
    void begin_duplicate(const wire::Header& header);
    void ask_again(std::uint32_t psn);
    void ask_later();
    void expect_unsent();
    Fault execute(const wire::Header& header);
    Fault execute_atomic(const wire::Header& header);
    Fault execute_atomic_write(const wire::Header& header);
    void finish_send(const wire::Header& header);
    void finish_write(const wire::Header& header);
    void complete_receive(const wire::Header& header, ibv_wc_opcode opcode);
    void complete_failed(ibv_wc_status status);
    void taken_in(const wire::Header& header, bool answered);
    static LastWord last_word(Fault fault);
    void fail(Fault fault, std::uint32_t psn);

    // responder_responses.cpp
    bool build(Response& response, OutPacket& out);
    bool build_read(Response& response, OutPacket& out);
    void build_acknowledge(std::uint8_t syndrome, std::uint32_t psn, OutPacket& out) const;
    void start_packet(wire::Opcode opcode, std::uint32_t psn, OutPacket& out) const;

    Context& context_;
    Inbound& inbound_;
    std::uint32_t expected_psn_ = 0;
    bool connected_ = false;  // the PSN is one agreed with a peer
    std::uint32_t msn_ = 0;

    Message message_ = Message::None;  // the message of several packets that is under way
    std::uint64_t message_bytes_ = 0;  // of it, taken in so far
    std::uint64_t write_address_ = 0;
    std::uint32_t write_rkey_ = 0;
    std::uint32_t write_length_ = 0;
    bool has_receive_ = false;
    std::uint64_t receive_length_ = 0;
    ReceiveRequest receive_;

    ResponseQueue responses_;
    std::optional<Nak> nak_;  // to be sent after the pending responses
    // The NAK for the expected PSN was sent; packets behind it are dropped without another one.
    bool nak_sent_ = false;
    std::uint32_t ahead_psn_ = 0;  // of the last packet that was dropped so
    bool failed_ = false;          // the NAK to come is the last word
    bool ack_due_ = false;
    bool unacknowledged_ = false;  // something was taken in and not answered yet
    std::optional<TimePoint> lazy_until_;
    std::optional<TimePoint> dropped_until_;  // then the peer is to try again
};

}  // namespace fabric::rc
