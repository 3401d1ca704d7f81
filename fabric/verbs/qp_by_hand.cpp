// SPDX-License-Identifier: BSD-3-Clause
// The part of a queue pair that matters if programs connect it by hand.
#include <algorithm>
#include <cstring>
#include <utility>

#include "carrier/engine.hpp"
#include "log.hpp"
#include "verbs/gid.hpp"
#include "verbs/hand_connect.hpp"
#include "verbs/qp_attributes.hpp"
#include "verbs/qp_numbers.hpp"
#include "verbs/queue_pair.hpp"

namespace fabric::verbs {
namespace {

// A sender gives up if its peer does not get in touch for so long; an adapter's retries end in
// less.
constexpr std::chrono::seconds kLinkTime{20};
// And if the peer has the link and does not answer, after once or twice this time.
constexpr std::chrono::seconds kAnswerTime{10};
// Links that may wait for a queue pair to get ready.
constexpr std::size_t kMaxOffers = 8;

bool equal(const ibv_gid& a, const ibv_gid& b) {
    return std::memcmp(a.raw, b.raw, sizeof a.raw) == 0;
}

// The link comes from the address it says it does, and both sides mean each other.
bool fits(const carrier::Link& link, const Introduction& from, const Introduction& own) {
    return from.source_qp == own.destination_qp && equal(from.source_gid, own.destination_gid) &&
           equal(from.destination_gid, own.source_gid) &&
           equal(gid::of_address(link.peer_address()), from.source_gid);
}

bool to_itself(const Introduction& own) {
    return own.source_qp == own.destination_qp && equal(own.source_gid, own.destination_gid);
}

}  // namespace

// Nothing: not a queue pair to be connected by hand, or not yet. Caller holds the lock.
std::optional<Introduction> RcQueuePair::own_introduction(std::uint32_t* interface) const {
    const ibv_qp_state state = endpoint_.state();
    if (state != IBV_QPS_RTR && state != IBV_QPS_RTS && state != IBV_QPS_SQD)
        return std::nullopt;
    const auto source = gid::at(attr_.ah_attr.grh.sgid_index);
    if (retired_ || !source || !qp_numbers::is_reachable(number_) ||
        !qp_numbers::is_reachable(attr_.dest_qp_num))
        return std::nullopt;
    *interface = source->interface;
    return Introduction{packet_size_, number_, attr_.dest_qp_num, source->gid,
                        attr_.ah_attr.grh.dgid};
}

void RcQueuePair::connect_by_hand() {
    std::uint32_t interface = 0;
    std::uint32_t life = 0;
    std::optional<Introduction> own;
    {
        const std::lock_guard guard(mutex_);
        life = life_;
        own = own_introduction(&interface);
        if (!own || link_ != nullptr)
            return;
        calls_ = hand_connect::calls(*own);
    }
    if (!hand_connect::calls(*own)) {
        take_offer();
        return;
    }
    std::shared_ptr<carrier::Link> link;
    if (const int error = hand_connect::call(self(), life, *own, interface, &link); error != 0) {
        unreachable(error, life);
        return;
    }
    {
        const std::lock_guard guard(mutex_);
        if (calls_)
            calling_ = link;
        if (calls_ || link_ == link)
            return;
    }
    link->close();  // failed, or not wanted any more
}

void RcQueuePair::unreachable(int error, std::uint32_t life) {
    std::shared_ptr<carrier::Link> last;  // may go only after the lock
    {
        const std::lock_guard guard(mutex_);
        if (life != life_ || !std::exchange(calls_, false))
            return;
        last.swap(calling_);
        endpoint_.link_lost();
        settle();
    }
    log(LogLevel::Warning,
        "queue pair %u cannot reach its peer: %s; is the peer's process alive, and are its ports "
        "open?",
        number_, std::strerror(error));
}

// Caller holds the lock. Who the peer is, is not known before RTR. Until then the newest are kept,
// one of each caller; the one that has to go is returned.
std::optional<RcQueuePair::Offer> RcQueuePair::keep_offer(const Offer& fresh) {
    std::optional<Offer> refused;
    auto old = std::find_if(offers_.begin(), offers_.end(), [&fresh](const Offer& offer) {
        return offer.from.source_qp == fresh.from.source_qp &&
               equal(offer.from.source_gid, fresh.from.source_gid);
    });
    if (old == offers_.end() && offers_.size() == kMaxOffers)
        old = offers_.begin();
    if (old != offers_.end()) {
        refused = std::move(*old);
        offers_.erase(old);
    }
    offers_.push_back(fresh);
    return refused;
}

void RcQueuePair::offer(const std::shared_ptr<carrier::Link>& link, const Introduction& from) {
    std::optional<Offer> refused = Offer{link, from};
    {
        const std::lock_guard guard(mutex_);
        if (!retired_)
            refused = keep_offer(*refused);
    }
    if (refused)
        refused->link->close();
    take_offer();
}

// A peer calls once for each time it is connected. So if this side has heard of it before, or has
// its link, the peer was reset and is faster than this side, which will take the link after its own
// reset.
void RcQueuePair::take_offer() {
    std::uint32_t interface = 0;
    std::optional<Introduction> own;
    std::vector<Offer> offers;
    std::shared_ptr<carrier::Link> unwanted;
    std::uint32_t life = 0;
    bool early = false;
    {
        const std::lock_guard guard(mutex_);
        life = life_;
        own = own_introduction(&interface);
        if (!own)
            return;
        early = !to_itself(*own) && (link_ != nullptr || endpoint_.heard_of_peer());
        const auto kept = std::partition(offers_.begin(), offers_.end(), [&](const Offer& offer) {
            return !early || !fits(*offer.link, offer.from, *own);
        });
        offers.assign(offers_.begin(), kept);
        offers_.erase(offers_.begin(), kept);
    }
    bool taken = early;
    for (const Offer& offer : offers) {
        // One that the peer has left was for a time before its own reset, and so is what came with
        // it.
        if (taken || !fits(*offer.link, offer.from, *own) || offer.link->left_by_peer()) {
            offer.link->close();
            continue;
        }
        if (!accept(offer, *own, life)) {
            this->offer(offer.link, offer.from);
            continue;
        }
        taken = true;
        const std::lock_guard guard(mutex_);
        if (retired_)  // meanwhile
            unwanted = offer.link;
    }
    if (unwanted != nullptr)
        unwanted->close();
}

// False: reset meanwhile.
bool RcQueuePair::accept(const Offer& offer, const Introduction& own, std::uint32_t life) {
    if (offer.from.stream_mtu != own.stream_mtu) {
        log(LogLevel::Error,
            "the peer of queue pair %u sends packets of %u bytes, this side of %u; set "
            "RPMA_FABRIC_MTU alike",
            number_, offer.from.stream_mtu, own.stream_mtu);
        offer.link->close();
        return true;
    }
    return to_itself(own) ? accept_loop(offer, life) : attach_in_life(offer.link, life);
}

bool RcQueuePair::accept_loop(const Offer& offer, std::uint32_t life) {
    {
        const std::lock_guard guard(mutex_);
        if (life != life_)
            return false;
        loop_ = offer.link;
    }
    offer.link->set_packets(hand_connect::loop_receiver(self()));
    return true;
}

void RcQueuePair::attach_managed(std::shared_ptr<carrier::Link> link, std::uint32_t packet_size) {
    {
        const std::lock_guard guard(mutex_);
        managed_packet_size_ = packet_size;
        const ibv_qp_state state = endpoint_.state();
        if (state == IBV_QPS_RTR || state == IBV_QPS_RTS) {
            packet_size_ = packet_size;
            endpoint_.set_attributes(transport_attributes(attr_, number_, packet_size_));
        }
    }
    attach(std::move(link));
}

void RcQueuePair::cut_managed() {
    {
        const std::lock_guard guard(mutex_);
        if (retired_ || managed_packet_size_ == 0)
            return;
    }
    link_lost();
}

// Caller holds the lock: something was posted and there is no link yet.
void RcQueuePair::expect_link() {
    if (!qp_numbers::is_reachable(number_) || endpoint_.send_queue_idle() ||
        std::exchange(expecting_link_, true))
        return;
    expecting_timer_.set(kLinkTime, [weak = weak_from_this(), life = life_] {
        const auto qp = std::static_pointer_cast<RcQueuePair>(weak.lock());
        if (qp == nullptr)
            return;
        const std::lock_guard guard(qp->mutex_);
        if (qp->life_ != life)
            return;
        qp->expecting_link_ = false;
        if (qp->retired_ || qp->link_ != nullptr)
            return;
        qp->endpoint_.link_lost();
        qp->settle();
    });
}

// Caller holds the lock: there is a link, but the peer may never become ready to take a packet from
// it. `waited`: a request was there already at the last look.
void RcQueuePair::expect_answer(bool waited) {
    answer_timer_.set(kAnswerTime, [weak = weak_from_this(), life = life_, waited] {
        const auto qp = std::static_pointer_cast<RcQueuePair>(weak.lock());
        if (qp == nullptr)
            return;
        const std::lock_guard guard(qp->mutex_);
        if (qp->retired_ || qp->life_ != life || qp->link_ == nullptr ||
            qp->endpoint_.heard_of_peer())
            return;
        const bool waits = !qp->endpoint_.send_queue_idle();
        if (waits && waited)
            qp->endpoint_.link_lost();
        else
            qp->expect_answer(waits);
        qp->settle();
    });
}

// Caller holds the lock. Nobody tells an adapter that the peer is gone: its requests time out.
// Until then a program that has all it waits for may still end in order, whatever else it has
// posted.
void RcQueuePair::lose_peer_later() {
    const auto once = std::chrono::nanoseconds(std::int64_t{4096} << (attr_.timeout & 31));
    const auto all = once * (attr_.retry_cnt + 1);
    const auto pause =
        attr_.timeout == 0 ? kLinkTime : std::min<std::chrono::nanoseconds>(all, kLinkTime);
    loss_timer_.set(pause, [weak = weak_from_this(), loss = ++losses_] {
        const auto qp = std::static_pointer_cast<RcQueuePair>(weak.lock());
        if (qp == nullptr)
            return;
        const std::lock_guard guard(qp->mutex_);
        if (qp->retired_ || qp->losses_ != loss || qp->link_ != nullptr)
            return;
        qp->endpoint_.link_lost();
        qp->settle();
    });
}

// Links of the connection manager are its own. Offers are kept: they may be for the next time.
void RcQueuePair::drop_links() {
    std::array<std::shared_ptr<carrier::Link>, 3> links;
    std::vector<Offer> offers;
    {
        const std::lock_guard guard(mutex_);
        const bool own = qp_numbers::is_reachable(number_) && managed_packet_size_ == 0;
        managed_packet_size_ = 0;
        calls_ = false;
        ++losses_;
        ++life_;
        expecting_link_ = false;
        links = {own ? std::exchange(link_, nullptr) : nullptr, std::exchange(calling_, nullptr),
                 std::exchange(loop_, nullptr)};
        if (retired_)
            offers.swap(offers_);
    }
    for (const auto& link : links) {
        if (link == nullptr)
            continue;
        link->set_packets(nullptr);
        link->close();
    }
    for (const Offer& offer : offers)
        offer.link->close();
}

}  // namespace fabric::verbs
