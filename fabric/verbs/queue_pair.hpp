// SPDX-License-Identifier: BSD-3-Clause
// The reliable-connected queue pair: what programs hold, its transport, its queues and its link.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "carrier/engine.hpp"
#include "faults/traffic.hpp"
#include "rc/endpoint.hpp"
#include "verbs/birth.hpp"
#include "verbs/cq.hpp"
#include "verbs/introduction.hpp"
#include "verbs/pd.hpp"
#include "verbs/qp.hpp"
#include "verbs/shared_receive_queue.hpp"

namespace fabric::verbs {

class SendBatch;

class RcQueuePair final : public QueuePair, public rc::Host {
public:
    // The attributes are checked; `send_ops` is set if the program wants to post through ibv_qp_ex.
    // Use valid() after it; one that is not goes without retire().
    RcQueuePair(ibv_context* context, const ibv_qp_init_attr_ex& attr, std::uint32_t number);
    bool valid() const { return endpoint_.valid(); }
    ~RcQueuePair() override;
    RcQueuePair(const RcQueuePair&) = delete;
    RcQueuePair& operator=(const RcQueuePair&) = delete;

    static RcQueuePair& of(ibv_qp* shown) { return *reinterpret_cast<Shown*>(shown)->self; }
    static RcQueuePair& of(ibv_qp_ex* shown) { return *reinterpret_cast<Shown*>(shown)->self; }
    ibv_qp_ex* extended_handle() { return &shown_.qp; }
    std::uint32_t number() const { return number_; }
    SendBatch* batch() { return batch_.get(); }  // nullptr: not made for ibv_qp_ex

    // QueuePair
    ibv_qp* handle() override { return &shown_.qp.qp_base; }
    int modify(const ibv_qp_attr& attr, int mask, std::uint32_t stream_mtu) override;
    void attach(std::shared_ptr<carrier::Link> link) override;
    void attach_managed(std::shared_ptr<carrier::Link> link, std::uint32_t packet_size) override;
    void cut_managed() override;

    // carrier::PacketHandler
    rc::Endpoint::Begin begin(const wire::Header& header, std::size_t payload_bytes) override;
    void end(bool placed) override;
    bool next_packet(rc::OutPacket& out) override;
    void link_lost() override;

    // The program's calls; 0 or errno.
    int post_send(const ibv_send_wr* wr, const ibv_send_wr** bad);
    int post_batch(const SendBatch& batch);  // all of it or nothing
    int post_receive(const ibv_recv_wr* wr, const ibv_recv_wr** bad);
    void query(ibv_qp_attr& attr, ibv_qp_init_attr& init);
    // The program is done with it: afterwards nothing reaches its CQs any more.
    void retire();

    void kick();
    // A link on which a peer introduced itself to this queue pair.
    void offer(const std::shared_ptr<carrier::Link>& link, const Introduction& from);
    void unreachable(int error, std::uint32_t life);  // the peer cannot be called; errno
    // As attach(), but false if the queue pair was reset since it was in this life.
    bool attach_in_life(const std::shared_ptr<carrier::Link>& link, std::uint32_t life) {
        return bind(link, life);
    }
    const Birth birth{};  // the process it was made in
    void pass_lock() { const std::lock_guard guard(mutex_); }

private:
    struct Shown {
        ibv_qp_ex qp;  // first; struct ibv_qp is its beginning
        RcQueuePair* self;
    };
    struct Offer {
        std::shared_ptr<carrier::Link> link;
        Introduction from;
    };

    // rc::Host, called with the lock held
    void complete(const rc::Completion& completion) override;
    rc::ReceiveQueue& receive_queue() override;
    void async_event(ibv_event_type type) override;
    void state_changed(ibv_qp_state state) override;
    const ibv_pd* pd() const override { return shown_.qp.qp_base.pd; }
    void recall(std::deque<rc::Completion>& out) override { send_cq_.recall(&endpoint_, out); }

    std::shared_ptr<RcQueuePair> self();
    int change(const ibv_qp_attr& attr, int mask, std::uint32_t stream_mtu, bool* connect);
    std::uint32_t packet_size(std::uint32_t stream_mtu) const;
    void push();
    void detach();
    void settle();
    void entered_error();
    void watch_deadline();
    bool next_faulty(rc::OutPacket& out);
    void on_deadline();
    void expect_link();
    void expect_answer(bool waited);
    void lose_peer_later();

    bool bind(std::shared_ptr<carrier::Link> link, std::optional<std::uint32_t> life);
    std::optional<Introduction> own_introduction(std::uint32_t* interface) const;
    void connect_by_hand();
    std::optional<Offer> keep_offer(const Offer& fresh);
    void take_offer();
    bool accept(const Offer& offer, const Introduction& own, std::uint32_t life);
    bool accept_loop(const Offer& offer, std::uint32_t life);
    void drop_links();

    Shown shown_{};
    const std::uint32_t number_;
    const ibv_qp_init_attr init_;
    std::optional<PdUse> pd_use_;
    Cq& send_cq_;
    Cq& receive_cq_;
    SharedReceiveQueue* const srq_;
    std::unique_ptr<SendBatch> batch_;

    std::mutex mutex_;
    rc::Endpoint endpoint_;
    ibv_qp_attr attr_{};
    std::uint32_t packet_size_ = 0;
    std::uint32_t managed_packet_size_ = 0;  // not 0: the link is the connection manager's
    bool overrun_ = false;                   // a completion found its CQ full
    bool retired_ = false;
    rc::TimePoint timer_due_ = rc::TimePoint::max();
    carrier::Timer deadline_timer_;
    std::shared_ptr<carrier::Link> link_;
    const std::unique_ptr<faults::Traffic> traffic_;  // nullptr: no faults were asked for

    // Connected by hand only.
    bool calls_ = false;                      // the peer is being called
    std::shared_ptr<carrier::Link> calling_;  // that link, once it is known here
    std::shared_ptr<carrier::Link> loop_;     // incoming end of a link to itself
    std::vector<Offer> offers_;               // of a peer that was faster than we; or of strangers
    std::uint32_t life_ = 0;                  // ends with a reset
    bool expecting_link_ = false;
    carrier::Timer expecting_timer_;
    carrier::Timer answer_timer_;
    std::uint32_t losses_ = 0;  // of a link, and what makes up for them
    carrier::Timer loss_timer_;

    std::uint32_t events_taken_ = 0;  // under the lock of the context's events
};

}  // namespace fabric::verbs
