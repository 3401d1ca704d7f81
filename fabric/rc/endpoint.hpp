// SPDX-License-Identifier: BSD-3-Clause
// The reliable-connected transport of one queue pair: requester and responder (IBTA vol. 1,
// chapter 9.7). Pure: no sockets, no threads, no clock. Work requests and packets in, packets and
// completions out.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>

#include "memory/placement.hpp"
#include "memory/region.hpp"
#include "wire/packet.hpp"

namespace fabric::rc {

class RequestFilter;
using TimePoint = std::chrono::steady_clock::time_point;

inline constexpr std::uint32_t kMaxSge = 32;
inline constexpr std::uint32_t kMaxInline = 1024;

// A receive work request as taken from a receive queue.
struct ReceiveRequest {
    std::uint64_t wr_id = 0;
    std::uint32_t num_sge = 0;
    std::array<ibv_sge, kMaxSge> sge;
};

// Where receive work requests come from: the QP's own receive queue or a shared one.
class ReceiveQueue {
public:
    virtual ~ReceiveQueue() = default;
    virtual bool pop(
        ReceiveRequest& out) = 0;  // false: none posted (the responder answers RNR NAK)
};

// A completion on its way to a CQ.
struct Completion {
    ibv_wc wc{};
    bool solicited = false;  // receive side: the sender asked for a solicited event
    bool send_side = false;  // goes to the send CQ (else to the receive CQ)
    std::uint32_t send_slots =
        0;  // send queue slots that become free when the program has polled this entry
};

// What the transport needs from around it. Called with the queue pair's lock held.
class Host {
public:
    virtual ~Host() = default;
    virtual void complete(const Completion& completion) = 0;
    virtual ReceiveQueue& receive_queue() = 0;
    virtual void async_event(ibv_event_type type) = 0;  // IBV_EVENT_QP_FATAL, QP_ACCESS_ERR,
                                                        // QP_REQ_ERR, COMM_EST, SQ_DRAINED
    virtual void state_changed(
        ibv_qp_state state) = 0;  // the transport itself moved the QP (to IBV_QPS_ERR)
    virtual const ibv_pd* pd() const = 0;
    // Takes completions of reads and flushes of this queue pair, and of what follows them, out of
    // the send CQ again, if the program has not polled them; in order.
    virtual void recall(std::deque<Completion>& /*out*/) {}
};

// Sizes fixed at creation (as granted, not as asked).
struct Capacity {
    std::uint32_t send_requests = 0;
    std::uint32_t receive_requests = 0;
    std::uint32_t send_sge = 1;
    std::uint32_t receive_sge = 1;
    std::uint32_t inline_bytes = 0;
    bool signal_all = false;  // sq_sig_all
};

// What ibv_modify_qp sets. Defaults are those of a fresh QP.
struct Attributes {
    std::uint32_t qp_number = 0;
    std::uint32_t destination_qp = 0;
    std::uint32_t path_mtu = 4096;  // bytes of payload in one packet; a stream carrier allows more
                                    // than InfiniBand's 4096
    std::uint32_t send_psn = 0;
    std::uint32_t receive_psn = 0;
    std::uint8_t max_rd_atomic = 16;       // initiator depth: own reads and atomics in flight
    std::uint8_t max_dest_rd_atomic = 16;  // responder resources
    std::uint8_t retry_count = 7;
    std::uint8_t rnr_retry = 7;  // 7: for ever
    std::uint8_t min_rnr_timer =
        12;               // code of the RNR NAK timer we ask the peer to wait (12: 0.64 ms)
    unsigned access = 0;  // qp_access_flags: IBV_ACCESS_REMOTE_*
};

// A packet ready for the carrier: encoded headers, then the payload gathered from memory, then
// header.pad zero bytes. Segments without a region lie in the endpoint's send queue: they stay
// valid until the endpoint is destroyed. Segments of read responses refer to registered memory that
// the program may deregister before they are sent: see carrier::Link::release().
struct OutPacket {
    wire::Header header;
    std::array<std::byte, wire::kMaxHeaderBytes> header_data;
    std::uint32_t header_size = 0;
    std::uint32_t payload_size = 0;
    std::uint32_t segment_count = 0;
    std::array<memory::Segment, kMaxSge> segments;
    // Of the frame on the wire: so many bytes go out, and then the link is cut (faults/).
    static constexpr std::uint32_t kWhole = UINT32_MAX;
    std::uint32_t frame_limit = kWhole;
};

// Not thread-safe: every call is made under the queue pair's lock, with two exceptions that are
// marked.
class Endpoint {
public:
    // Use valid() after it: there may be no memory for queues of this capacity.
    Endpoint(const Capacity& capacity, Host& host);
    bool valid() const;
    ~Endpoint();
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    // --- the program's side ---
    // 0; ENOMEM queue full; EINVAL wrong state, opcode, flags, too many SGEs, inline data too long.
    // In state ERR the request is taken and completed as flushed at once. Keys are checked when the
    // request is executed, as hardware does.
    int post_send(const ibv_send_wr& wr);
    // Native FLUSH and ATOMIC WRITE and everything posted through ibv_qp_ex come as this neutral
    // form.
    struct NativeRequest {
        enum class Kind : std::uint8_t { Flush, AtomicWrite } kind;
        std::uint64_t wr_id;
        unsigned send_flags;
        std::uint64_t remote_address;
        std::uint32_t rkey;
        std::uint32_t length;            // flush: bytes of the range
        std::uint8_t type;               // flush: 1 global, 2 persistent
        std::uint8_t level;              // flush: 0 range, 1 region
        std::array<std::byte, 8> value;  // atomic write
    };
    int post_native(const NativeRequest& request);
    // What posting it would say of the request itself: 0 or EINVAL.
    int check_send(const ibv_send_wr& wr) const;
    static int check_native(const NativeRequest& request);
    int post_receive(const ibv_recv_wr& wr);  // own receive queue only
    ReceiveQueue& own_receive_queue();

    // Before the state that needs them: RTR for the receiving side (receive_psn,
    // max_dest_rd_atomic), RTS for the sending side (send_psn). Later changes of other attributes
    // take effect at once.
    void set_attributes(const Attributes& attributes);
    const Attributes& attributes() const;
    void set_state(ibv_qp_state state);  // Reset drops everything silently; Err flushes both
                                         // queues; checks are the caller's
    ibv_qp_state state() const;
    std::uint32_t send_room() const;  // requests that can be posted now
    bool send_queue_idle() const;     // nothing unacknowledged, nothing to send
    bool send_queue_drained() const;  // in state SQD: nothing unacknowledged
    bool owes_answer() const;         // the peer waits for one to a request
    void acknowledge();               // what was taken in, with the next packet
    // Thread-safe without the lock: the program has polled completions that free so many slots.
    void release_send_slots(std::uint32_t slots);

    // --- the carrier's side ---
    // Next packet to send, responses before requests; false if there is nothing to send now (or
    // before the RNR timer ends).
    bool next_packet(OutPacket& out);
    // A packet has begun: its headers and the length of its payload (pad taken off). The answer
    // says where the payload goes. `target` is valid until end() and has the payload's length, or
    // is empty: then the payload is to be thrown away.
    struct Begin {
        memory::Target target;
        bool fatal = false;  // the peer broke the protocol beyond repair: close the link
    };
    Begin begin(const wire::Header& header, std::size_t payload_bytes);
    // The payload of the packet given to begin() is complete; `placed` is false if placing it
    // failed.
    void end(bool placed);
    // The link is gone. Requests under way end in IBV_WC_RETRY_EXC_ERR (the first) and
    // IBV_WC_WR_FLUSH_ERR (the rest); with none under way the state stays and the next post_send
    // meets that end, as on a real network.
    void link_lost();
    // There is another link: what has no answer yet is sent again.
    void link_renewed();
    bool heard_of_peer() const;  // of the one that the attributes name

    // --- time ---
    // When on_time() wants to be called: end of an RNR wait, or an acknowledgement that nobody
    // asked for but that is due soon. May change with every begin(), end(), next_packet() and
    // on_time(); after on_time() there may be packets to send.
    std::optional<TimePoint> deadline() const;
    void on_time(TimePoint now);
    void set_now(TimePoint now);  // the clock, as far as this class knows; call before
                                  // next_packet() and begin()

    // --- faults that are asked for ---
    void set_filter(RequestFilter* filter);  // nullptr: none
    bool request_ready() const;              // but for the order of requests, one could be sent now
    void hold_requests(TimePoint until);     // as if the peer had not been ready

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fabric::rc
