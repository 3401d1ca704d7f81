// SPDX-License-Identifier: BSD-3-Clause
// The communication identifier: what a program's rdma_cm_id* points to, with all that the
// connection manager knows about it.
#pragma once

#include <rdma/rdma_cma.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "carrier/engine.hpp"
#include "carrier/link.hpp"
#include "cm/address.hpp"
#include "cm/channel.hpp"
#include "cm/event.hpp"
#include "cm/strand.hpp"
#include "wire/cm.hpp"

namespace fabric::verbs {
class QueuePair;
}

namespace fabric::cm {

class Control;

enum class State : std::uint8_t {
    Idle,
    Bound,
    AddressResolved,
    RouteResolved,
    Listening,
    Opening,          // active: the link is being opened
    RequestSent,      // active: waiting for the answer
    ReplyReceived,    // active without a queue pair: the program has to call rdma_establish
    Incoming,         // passive: a link without a request; no program knows this id yet
    RequestReceived,  // passive: the program has to accept or reject
    ReplySent,        // passive: accepted
    Established,
    Disconnecting,    // DREQ sent
    DisconnectAsked,  // DREQ received, told, and not answered: that is for the program to do
    Disconnected,
    Failed,  // rejected, unreachable, broken
    Gone,    // rdma_destroy_id was called
};

// What the two sides of a connection tell each other, as this side needs it.
struct Terms {
    std::uint32_t local_id = 0;
    std::uint32_t remote_id = 0;
    std::uint64_t transaction = 0;
    std::uint32_t local_qp = 0;
    std::uint32_t remote_qp = 0;
    std::uint32_t local_psn = 0;
    std::uint32_t remote_psn = 0;
    std::uint8_t mtu_code = 0;
    std::uint8_t responder_resources = 0;  // what this side answers
    std::uint8_t initiator_depth = 0;      // what this side asks
    std::uint8_t retry_count = 0;
    std::uint8_t rnr_retry_count = 0;  // of this side's sends; the peer's wish
    std::uint8_t rnr_retry_wish = 0;   // of the peer's sends
    ibv_ece local_ece{};
    ibv_ece remote_ece{};
};

struct Options {
    std::uint8_t traffic_class = 0;
    std::uint8_t ack_timeout = kUnset;
    bool only_family = false;
    static constexpr std::uint8_t kUnset = 0xff;
};

// Threads: `strand` must be taken for everything but the members that say otherwise. Lock order:
// strand, then (none of them held by whoever waits for a strand) links and queue pairs;
// channel_lock, then a channel's lock, both never held while calling a link or a queue pair.
struct Id final : rdma_cm_id, std::enable_shared_from_this<Id> {
    // A new id without a handle in a program's hands. `channel` nullptr: synchronous, on a channel
    // of its own; then nullptr with errno set if there is no descriptor for one.
    static std::shared_ptr<Id> create(std::shared_ptr<Channel> channel, rdma_port_space space,
                                      ibv_qp_type type);
    // The id behind a program's handle; nullptr for NULL and in a forked child.
    static std::shared_ptr<Id> of(rdma_cm_id* handle);
    // The handle is of the process of which this one is a forked child.
    static bool is_inherited(const rdma_cm_id* handle);

    Id(rdma_port_space space, ibv_qp_type type);
    Id(const Id&) = delete;
    Id& operator=(const Id&) = delete;

    rdma_cm_id* publish();  // gives the program its handle

    // Binds the id to the device, as an address of this machine does. 0 or ENODEV, ENOMEM.
    int attach_device();
    std::uint64_t service_id() const;
    bool connected_type() const { return qp_type == IBV_QPT_RC; }
    bool is_synchronous();  // any thread

    void notify(std::unique_ptr<Event> news);
    // Any thread, strand or not, no lock held: `work` runs under the strand, soon, or at once on
    // the engine's thread.
    void later(std::function<void()> work);

    // One timer: a deadline or what follows a disconnection. `expired` runs under the strand,
    // unless another arm() or disarm() came first.
    void arm(std::chrono::milliseconds delay, void (*expired)(Id&));
    void disarm();

    // Sends a message over the link, if there is one.
    void send(const wire::CmBody& body);
    // Ends the use of the link; what is queued still goes out.
    void drop_link();

    Strand strand;
    State state = State::Idle;
    Terms terms;
    Options options;
    std::shared_ptr<carrier::Link> link;
    std::shared_ptr<Control> control;
    wire::CmRequest request;   // active: what is sent when the link is up, again with a smaller MTU
    std::size_t refusals = 0;  // active: how often nobody listened
    std::unique_ptr<carrier::Listener> listener;
    Reservation reservation;
    bool accepted = false;                     // passive: the program accepted
    bool established_told = false;             // passive: ESTABLISHED was told
    std::weak_ptr<Id> listening;               // passive: where the request came in
    std::weak_ptr<verbs::QueuePair> own_pair;  // of the program's making, on this link
    ibv_sa_path_rec path{};

    // Endpoints (rdma_create_ep): what each request's queue pair is made with.
    std::unique_ptr<ibv_qp_init_attr> request_qp;
    ibv_pd* request_pd = nullptr;

    // Under channel_lock.
    std::mutex channel_lock;
    std::shared_ptr<Channel> events;
    bool synchronous = false;

    // Thread-safe by themselves.
    Outstanding outstanding;
    std::atomic<int> backlog{0};  // requests that may still be queued

    std::shared_ptr<Id> published;  // the program's reference

private:
    const std::uint32_t generation_;
    carrier::Timer timer_;
    std::uint64_t timer_epoch_ = 0;  // armed while it equals the epoch the timer was given
    bool armed_ = false;
};

// Holds an id's strand.
class Turn {
public:
    explicit Turn(std::shared_ptr<Id> id);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    std::shared_ptr<Id> id_;
};

// The end of every operation on a synchronous id: waits for its event and gives what that says, as
// librdmacm does. 0 at once for other ids. Without waiting it takes the event that is there, if
// any. Never called with the strand taken.
int complete(Id& id, Waiting waiting = Waiting::AsDescriptor);

}  // namespace fabric::cm
