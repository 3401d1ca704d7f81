// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/queue_pair.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include "carrier/engine.hpp"
#include "config.hpp"
#include "memory/persistence/door.hpp"
#include "trace.hpp"
#include "verbs/object_events.hpp"
#include "verbs/qp_attributes.hpp"
#include "verbs/qp_ex.hpp"
#include "verbs/qp_numbers.hpp"
#include "verbs/qp_registry.hpp"
#include "verbs/qp_transition.hpp"

namespace fabric::verbs {
namespace {

using Clock = std::chrono::steady_clock;

rc::Capacity capacity_of(const ibv_qp_init_attr_ex& attr) {
    rc::Capacity out;
    out.send_requests = attr.cap.max_send_wr;
    out.receive_requests = attr.srq != nullptr ? 0 : attr.cap.max_recv_wr;
    out.send_sge = attr.cap.max_send_sge;
    out.receive_sge = attr.cap.max_recv_sge;
    out.inline_bytes = attr.cap.max_inline_data;
    out.signal_all = attr.sq_sig_all != 0;
    return out;
}

ibv_qp_init_attr plain_part(const ibv_qp_init_attr_ex& attr) {
    return {attr.qp_context, attr.send_cq, attr.recv_cq,   attr.srq,
            attr.cap,        attr.qp_type, attr.sq_sig_all};
}

const char* name_of(ibv_qp_state state) {
    constexpr std::array<const char*, 7> kNames = {"RESET", "INIT", "RTR", "RTS",
                                                   "SQD",   "SQE",  "ERR"};
    return state < kNames.size() ? kNames[state] : "?";
}

}  // namespace

RcQueuePair::RcQueuePair(ibv_context* context, const ibv_qp_init_attr_ex& attr,
                         std::uint32_t number)
    : number_(number),
      init_(plain_part(attr)),
      pd_use_(attr.pd),
      send_cq_(Cq::of(attr.send_cq)),
      receive_cq_(Cq::of(attr.recv_cq)),
      srq_(attr.srq != nullptr ? &SharedReceiveQueue::of(attr.srq) : nullptr),
      endpoint_(capacity_of(attr), *this),
      traffic_(faults::Traffic::create()) {
    shown_.self = this;
    ibv_qp& qp = shown_.qp.qp_base;
    qp.context = context;
    qp.qp_context = attr.qp_context;
    qp.pd = attr.pd;
    qp.send_cq = attr.send_cq;
    qp.recv_cq = attr.recv_cq;
    qp.srq = attr.srq;
    qp.handle = qp.qp_num = number;
    qp.state = IBV_QPS_RESET;
    qp.qp_type = attr.qp_type;
    pthread_mutex_init(&qp.mutex, nullptr);
    pthread_cond_init(&qp.cond, nullptr);
    if ((attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0) {
        batch_ = std::make_unique<SendBatch>();
        fill_qp_functions(shown_.qp, attr.send_ops_flags);
    }
    if (!valid())
        return;
    endpoint_.set_filter(traffic_.get());
    send_cq_.add_user();
    receive_cq_.add_user();
    if (srq_ != nullptr)
        srq_->add_user();
    Context::of(context).add_user();
}

RcQueuePair::~RcQueuePair() {
    pthread_mutex_destroy(&shown_.qp.qp_base.mutex);
    pthread_cond_destroy(&shown_.qp.qp_base.cond);
}

std::shared_ptr<RcQueuePair> RcQueuePair::self() {
    return std::static_pointer_cast<RcQueuePair>(shared_from_this());
}

// --- the program's calls ---

int RcQueuePair::post_send(const ibv_send_wr* wr, const ibv_send_wr** bad) {
    int error = 0;
    std::shared_ptr<carrier::Link> link;
    {
        const std::lock_guard guard(mutex_);
        for (; wr != nullptr && error == 0; wr = wr->next) {
            error = endpoint_.post_send(*wr);
            if (error != 0)
                *bad = wr;
        }
        settle();
        link = link_;
        if (link == nullptr)
            expect_link();
    }
    if (link != nullptr)
        link->kick();
    return error;
}

int RcQueuePair::post_batch(const SendBatch& batch) {
    std::shared_ptr<carrier::Link> link;
    {
        const std::lock_guard guard(mutex_);
        if (batch.error() != 0)
            return batch.error();
        if (batch.size() > endpoint_.send_room())
            return ENOMEM;
        if (const int error = batch.post_to(endpoint_); error != 0)
            return error;
        settle();
        link = link_;
        if (link == nullptr)
            expect_link();
    }
    if (link != nullptr)
        link->kick();
    return 0;
}

int RcQueuePair::post_receive(const ibv_recv_wr* wr, const ibv_recv_wr** bad) {
    const std::lock_guard guard(mutex_);
    int error = srq_ != nullptr ? EINVAL : 0;
    for (; wr != nullptr; wr = wr->next) {
        if (error == 0)
            error = endpoint_.post_receive(*wr);
        if (error != 0) {
            *bad = wr;
            break;
        }
    }
    settle();
    return error;
}

void RcQueuePair::query(ibv_qp_attr& attr, ibv_qp_init_attr& init) {
    const std::lock_guard guard(mutex_);
    attr = attr_;
    attr.qp_state = attr.cur_qp_state = endpoint_.state();
    attr.cap = init_.cap;
    attr.sq_draining = attr.qp_state == IBV_QPS_SQD && !endpoint_.send_queue_drained() ? 1 : 0;
    init = init_;
}

// --- state ---

int RcQueuePair::modify(const ibv_qp_attr& attr, int mask, std::uint32_t stream_mtu) {
    bool connect = false;
    if ((mask & IBV_QP_STATE) != 0 &&
        (attr.qp_state == IBV_QPS_RESET || attr.qp_state == IBV_QPS_ERR))
        push();
    {
        const std::lock_guard guard(mutex_);
        if (const int error = change(attr, mask, stream_mtu, &connect); error != 0)
            return error;
    }
    if ((mask & IBV_QP_STATE) != 0 && attr.qp_state == IBV_QPS_RESET)
        drop_links();
    if (connect)
        connect_by_hand();
    kick();
    return 0;
}

// Caller holds the lock. *connect: the peer's address has become known.
int RcQueuePair::change(const ibv_qp_attr& attr, int mask, std::uint32_t stream_mtu,
                        bool* connect) {
    const ibv_qp_state from = endpoint_.state();
    const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attr.qp_state : from;
    if (retired_ || ((mask & IBV_QP_CUR_STATE) != 0 && attr.cur_qp_state != from) ||
        !transition_allowed(from, to, mask) || !valid_attributes(attr, mask))
        return EINVAL;
    if (to == IBV_QPS_SQD && from != IBV_QPS_SQD)
        attr_.en_sqd_async_notify = 0;  // asked for each time
    merge_attributes(attr_, attr, mask);
    *connect = from == IBV_QPS_INIT && to == IBV_QPS_RTR;
    if (*connect)
        packet_size_ = packet_size(stream_mtu);
    if (to == IBV_QPS_RESET) {
        attr_ = {};
        overrun_ = false;
    }
    if (to == IBV_QPS_RTR || to == IBV_QPS_RTS || to == IBV_QPS_SQD)
        endpoint_.set_attributes(transport_attributes(attr_, number_, packet_size_));
    if (to != from || to == IBV_QPS_SQD)
        endpoint_.set_state(to);
    if (to == IBV_QPS_ERR && from != IBV_QPS_ERR)
        entered_error();
    if (to == IBV_QPS_RESET && traffic_ != nullptr)
        traffic_->restart();
    if (to == IBV_QPS_RESET) {
        send_cq_.purge(&endpoint_);
        receive_cq_.purge(&endpoint_);
        if (memory::persistence::on())
            memory::persistence::connection_ended(number_);
    }
    shown_.qp.qp_base.state = to;
    settle();
    if (to != from && trace::event_enabled(LogLevel::Debug))
        trace::event(LogLevel::Debug, link_ != nullptr ? link_->id() : 0, "qp %u state %s -> %s",
                     number_, name_of(from), name_of(to));
    return 0;
}

// Between queue pairs that are connected by hand both sides use the configured size, whatever path
// MTU the programs agreed on.
std::uint32_t RcQueuePair::packet_size(std::uint32_t stream_mtu) const {
    const bool by_hand =
        qp_numbers::is_reachable(number_) && qp_numbers::is_reachable(attr_.dest_qp_num);
    if (stream_mtu == 0 && managed_packet_size_ != 0)
        return managed_packet_size_;
    return stream_mtu != 0 ? stream_mtu : by_hand ? config().stream_mtu : 128U << attr_.path_mtu;
}

// What this side has completed, the peer must learn: an adapter answers before its program sees the
// completion, and a program that has seen its last one may end at once.
void RcQueuePair::push() {
    std::shared_ptr<carrier::Link> link;
    {
        const std::lock_guard guard(mutex_);
        endpoint_.acknowledge();
        link = link_;
    }
    if (link != nullptr)
        link->push();
}

void RcQueuePair::retire() {
    push();
    detach();
    drop_links();
    {
        const std::lock_guard guard(mutex_);
        endpoint_.set_state(IBV_QPS_RESET);
        link_.reset();
    }
    if (memory::persistence::on())
        memory::persistence::connection_ended(number_);
    send_cq_.purge(&endpoint_);
    receive_cq_.purge(&endpoint_);
    send_cq_.drop_user();
    receive_cq_.drop_user();
    if (srq_ != nullptr)
        srq_->drop_user();
    pd_use_.reset();
    ibv_qp& qp = shown_.qp.qp_base;
    await_acknowledged(&qp.mutex, &qp.cond, &qp.events_completed,
                       Context::of(qp.context).async.forget(&events_taken_));
    Context::of(qp.context).drop_user();
}

void RcQueuePair::detach() {
    std::shared_ptr<carrier::Link> link;
    {
        const std::lock_guard guard(mutex_);
        retired_ = true;
        link = link_;
    }
    if (link == nullptr)
        return;
    link->set_packets(nullptr);
    const bool peer_waits = [&] {
        const std::lock_guard guard(mutex_);
        return endpoint_.owes_answer();
    }();
    if (peer_waits)
        link->abandon();
}

// --- the carrier's calls ---

void RcQueuePair::attach(std::shared_ptr<carrier::Link> link) {
    bind(std::move(link), std::nullopt);
}

bool RcQueuePair::bind(std::shared_ptr<carrier::Link> link, std::optional<std::uint32_t> life) {
    std::shared_ptr<carrier::Link> old;
    std::shared_ptr<carrier::Link> last;
    {
        const std::lock_guard guard(mutex_);
        if (life && *life != life_)
            return false;
        if (retired_)
            link.reset();
        old = std::exchange(link_, link);
        if (traffic_ != nullptr && link != nullptr)
            traffic_->set_link(link->id());
        last = std::move(calling_);
        calls_ = false;
        if (link != nullptr)
            endpoint_.link_renewed();
        if (link != nullptr && qp_numbers::is_reachable(number_) && managed_packet_size_ == 0)
            expect_answer(false);
    }
    if (old != nullptr && old != link)
        old->set_packets(nullptr);
    if (link != nullptr)
        link->set_packets(shared_from_this());
    return true;
}

void RcQueuePair::kick() {
    std::shared_ptr<carrier::Link> link;
    {
        const std::lock_guard guard(mutex_);
        link = link_;
    }
    if (link != nullptr)
        link->kick();
}

rc::Endpoint::Begin RcQueuePair::begin(const wire::Header& header, std::size_t payload_bytes) {
    const std::lock_guard guard(mutex_);
    endpoint_.set_now(Clock::now());
    return endpoint_.begin(header, payload_bytes);
}

void RcQueuePair::end(bool placed) {
    const std::lock_guard guard(mutex_);
    endpoint_.end(placed);
    settle();
}

bool RcQueuePair::next_packet(rc::OutPacket& out) {
    const std::lock_guard guard(mutex_);
    endpoint_.set_now(Clock::now());
    const bool some = traffic_ == nullptr ? endpoint_.next_packet(out) : next_faulty(out);
    settle();
    return some;
}

bool RcQueuePair::next_faulty(rc::OutPacket& out) {
    if (endpoint_.request_ready()) {
        const auto wait = traffic_->wait();
        if (wait > wait.zero())
            endpoint_.hold_requests(Clock::now() + wait);
    }
    if (!endpoint_.next_packet(out))
        return false;
    out.frame_limit = traffic_->limit(out);
    return true;
}

void RcQueuePair::link_lost() {
    std::shared_ptr<carrier::Link> last;  // may go only after the lock
    const std::lock_guard guard(mutex_);
    last = std::move(link_);
    if (qp_numbers::is_reachable(number_) && managed_packet_size_ == 0) {
        if (last == nullptr)  // of an earlier life
            return;
        lose_peer_later();
        if (!offers_.empty())
            carrier::Engine::instance().post([weak = weak_from_this()] {
                if (const auto qp = std::static_pointer_cast<RcQueuePair>(weak.lock()))
                    qp->take_offer();
            });
        return;
    }
    endpoint_.link_lost();
    settle();
}

// Caller holds the lock: what a call into the transport may have left behind.
void RcQueuePair::settle() {
    if (std::exchange(overrun_, false) && endpoint_.state() != IBV_QPS_ERR) {
        async_event(IBV_EVENT_QP_FATAL);
        endpoint_.set_state(IBV_QPS_ERR);
        shown_.qp.qp_base.state = IBV_QPS_ERR;
        entered_error();
        overrun_ = false;
    }
    watch_deadline();
}

// Caller holds the lock. Its queues are flushed: it has nothing of a shared receive queue any more.
void RcQueuePair::entered_error() {
    if (srq_ != nullptr)
        async_event(IBV_EVENT_QP_LAST_WQE_REACHED);
}

// Caller holds the lock.
void RcQueuePair::watch_deadline() {
    const auto due = endpoint_.deadline();
    if (!due || *due >= timer_due_)
        return;
    timer_due_ = *due;
    deadline_timer_.set(*due - Clock::now(), [weak = weak_from_this()] {
        if (const auto qp = std::static_pointer_cast<RcQueuePair>(weak.lock()))
            qp->on_deadline();
    });
}

void RcQueuePair::on_deadline() {
    {
        const std::lock_guard guard(mutex_);
        timer_due_ = rc::TimePoint::max();
        if (retired_)
            return;
        endpoint_.on_time(Clock::now());
        settle();
    }
    kick();
}

// --- what the transport needs ---

void RcQueuePair::complete(const rc::Completion& completion) {
    if (retired_)
        return;
    if (completion.wc.status != IBV_WC_SUCCESS && trace::event_enabled(LogLevel::Debug))
        trace::event(LogLevel::Debug, link_ != nullptr ? link_->id() : 0,
                     "qp %u wr_id %llu completed with status %d", number_,
                     static_cast<unsigned long long>(completion.wc.wr_id), completion.wc.status);
    CqEntry entry{completion.wc, &endpoint_, completion.send_slots};
    Cq& cq = completion.send_side ? send_cq_ : receive_cq_;
    if (!cq.push(entry, completion.solicited))
        overrun_ = true;
}

rc::ReceiveQueue& RcQueuePair::receive_queue() {
    if (srq_ != nullptr)
        return *srq_;
    return endpoint_.own_receive_queue();
}

void RcQueuePair::async_event(ibv_event_type type) {
    if (retired_ || (type == IBV_EVENT_SQ_DRAINED && attr_.en_sqd_async_notify == 0))
        return;
    ibv_async_event event{};
    event.event_type = type;
    event.element.qp = &shown_.qp.qp_base;
    Context::of(shown_.qp.qp_base.context).async.report(event, &events_taken_);
}

void RcQueuePair::state_changed(ibv_qp_state state) {
    shown_.qp.qp_base.state = state;
    if (state == IBV_QPS_ERR)
        entered_error();
    if (trace::event_enabled(LogLevel::Debug))
        trace::event(LogLevel::Debug, link_ != nullptr ? link_->id() : 0,
                     "qp %u state -> %s by the transport", number_, name_of(state));
}

}  // namespace fabric::verbs
