// SPDX-License-Identifier: BSD-3-Clause
// The sending half: turns posted work requests into request packets, and acknowledgements and
// responses into completions.
#pragma once

#include <deque>
#include <optional>

#include "rc/context.hpp"
#include "rc/send_queue.hpp"

namespace fabric::rc {

class Requester {
public:
    Requester(Context& context, Inbound& inbound);
    bool valid() const { return queue_.valid(); }

    template <typename Request>
    int post(const Request& request);  // ibv_send_wr or Endpoint::NativeRequest
    void release_slots(std::uint32_t slots) { queue_.release(slots); }

    void restart();  // takes over the attributes; nothing is in the queue
    void clear();    // drops everything silently
    void flush();    // completes everything as flushed
    void link_lost();
    void
    report_drained();  // in state SQD: tells the program once that what had been started is done
    bool idle() const { return queue_.empty(); }
    bool drained() const { return queue_.head() == started_; }  // what had been started is done
    bool heard_of_peer() const;                                 // since restart()
    void send_again() { go_back(); }  // what was sent went over a link that is gone
    std::uint32_t room() const { return queue_.room(); }

    bool ready() const;  // there is something to send, unless the order of requests forbids it
    bool next(OutPacket& out);
    void hold(TimePoint until) { rnr_until_ = until; }

    bool begin(const wire::Header& header,
               std::uint32_t payload);  // false: the peer broke the protocol
    void end(bool placed);

    std::optional<TimePoint> deadline() const { return rnr_until_; }
    void tick();  // context.now has changed

private:
    enum class Probe : std::uint8_t { No, Due, Sent };
    enum class Position : std::uint8_t { Old, Current, Beyond };
    struct Cursor {
        std::uint64_t request = 0;
        std::uint32_t packet = 0;  // PSN offset in the request
    };
    struct Failure {
        std::uint64_t request;
        ibv_wc_status status;
    };

    // sending
    void post_flushed(std::uint64_t wr_id);
    bool blocked(const SendRequest& request) const;
    bool start(SendRequest& request);
    bool wants_ack(const SendRequest& request);
    void advance(const SendRequest& request);
    void fail_locally(ibv_wc_status status);
    void meet_local_failure();
    // receiving
    Position position(std::uint32_t psn) const;
    bool acknowledge(const wire::Header& header);
    void not_acknowledged(const wire::Header& header);
    bool acknowledge_before(std::uint32_t psn);
    void begin_response(const wire::Header& header, std::uint32_t payload);
    bool fits(const SendRequest& request, const wire::Header& header, std::uint32_t payload) const;
    bool aim(const SendRequest& request, std::uint32_t payload);
    bool store_original(const SendRequest& request);
    // both
    void progress();
    void skip_acknowledged();
    void go_back();
    void lost();
    void receiver_not_ready(std::uint8_t timer_code);
    void finish_front();
    void fail_front(ibv_wc_status status);
    void complete(const SendRequest& request, ibv_wc_status status);
    void reset_progress();
    // overtaking.cpp
    void mark(SendRequest& request);
    void mark_packet(const SendRequest& request, wire::Header& header) const;
    void finish_marked(const SendRequest& request);
    void release_held();

    Context& context_;
    Inbound& inbound_;
    SendQueue queue_;
    Cursor cursor_;                     // what is sent next
    std::uint64_t started_ = 0;         // requests before this one have PSNs
    std::uint32_t next_psn_ = 0;        // of the request that is started next
    std::uint32_t unacknowledged_ = 0;  // the oldest PSN without an answer
    std::uint32_t sent_end_ = 0;        // behind the newest PSN that was sent
    std::uint32_t outstanding_ = 0;     // requests with a response, sent and not answered
    std::uint32_t quiet_ = 0;           // requests sent since an answer was last asked for
    std::uint32_t retries_ = 0;
    std::uint32_t rnr_tries_ = 0;
    Probe probe_ = Probe::No;
    bool drained_reported_ = false;
    std::optional<TimePoint> rnr_until_;
    // Only for the account of persistent memory.
    std::uint32_t reads_queued_ = 0;       // reads and flushes
    std::uint32_t overtaking_queued_ = 0;  // marked requests
    bool hold_ = false;                    // completions, until the marked requests are answered
    std::deque<Completion> held_;
    std::optional<Failure> local_failure_;  // to be reported when everything before it is done
};

}  // namespace fabric::rc
