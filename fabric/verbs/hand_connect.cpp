// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/hand_connect.hpp"

#include <cstring>
#include <mutex>
#include <utility>

#include "carrier/engine.hpp"
#include "log.hpp"
#include "verbs/gid.hpp"
#include "verbs/qp_numbers.hpp"
#include "verbs/qp_registry.hpp"
#include "verbs/queue_pair.hpp"

namespace fabric::verbs::hand_connect {
namespace {

constexpr std::chrono::seconds kIntroductionTime{10};

// The calling side, until the link is up.
class Caller final : public carrier::ControlHandler {
public:
    Caller(const std::shared_ptr<RcQueuePair>& qp, std::uint32_t life, const Introduction& own)
        : qp_(qp), life_(life), introduction_(own) {}

    std::shared_ptr<carrier::Link>* link_place() { return &link_; }

    void connected() override {
        link_->send_datagram(encode(introduction_));
        const auto qp = qp_.lock();
        if (qp == nullptr || !qp->attach_in_life(link_, life_))
            link_->close();
    }
    void datagram(std::span<const std::byte>) override {}  // none is defined in this direction
    void lost(int error) override {
        link_.reset();
        if (const auto qp = qp_.lock())
            qp->unreachable(error, life_);
    }

private:
    const std::weak_ptr<RcQueuePair> qp_;
    const std::uint32_t life_;
    const Introduction introduction_;
    std::shared_ptr<carrier::Link> link_;
};

// The called side, until the link has said for whom it is.
class Greeter final : public carrier::ControlHandler {
public:
    // Made apart from the constructor, since the call must not keep the greeter alive.
    static void greet(const std::shared_ptr<carrier::Link>& link) {
        const auto greeter = std::make_shared<Greeter>(link);
        greeter->timer_.set(kIntroductionTime, [weak = std::weak_ptr(greeter)] {
            if (const auto self = weak.lock())
                self->time_is_up();
        });
        link->set_control(greeter);
    }

    explicit Greeter(const std::shared_ptr<carrier::Link>& link) : link_(link) {}

    void connected() override {}
    void datagram(std::span<const std::byte> mad) override {
        const auto link = take();
        if (link == nullptr)
            return;
        const auto introduction = decode_introduction(mad);
        const auto qp =
            introduction ? qp_registry::by_number(introduction->destination_qp) : nullptr;
        if (qp == nullptr || !qp_numbers::is_reachable(introduction->destination_qp)) {
            link->close();
            return;
        }
        qp->offer(link, *introduction);
    }
    void lost(int) override { take(); }
    void time_is_up() {
        if (const auto link = take())
            link->close();
    }

private:
    std::shared_ptr<carrier::Link> take() {
        const std::lock_guard guard(mutex_);
        timer_.cancel();
        return std::exchange(link_, nullptr);
    }

    std::mutex mutex_;
    carrier::Timer timer_;
    std::shared_ptr<carrier::Link> link_;
};

class LoopReceiver final : public carrier::PacketHandler {
public:
    explicit LoopReceiver(const std::shared_ptr<RcQueuePair>& qp) : qp_(qp) {}

    rc::Endpoint::Begin begin(const wire::Header& header, std::size_t payload_bytes) override {
        return qp_->begin(header, payload_bytes);
    }
    void end(bool placed) override { qp_->end(placed); }
    bool next_packet(rc::OutPacket&) override {
        // Asked after packets came in: answers go out on the other end.
        carrier::Engine::instance().post([qp = qp_] { qp->kick(); });
        return false;
    }
    void link_lost() override {}

private:
    const std::shared_ptr<RcQueuePair> qp_;
};

}  // namespace

bool calls(const Introduction& own) {
    if (own.source_qp != own.destination_qp)
        return own.source_qp < own.destination_qp;
    return std::memcmp(own.source_gid.raw, own.destination_gid.raw, sizeof(ibv_gid)) <= 0;
}

int call(const std::shared_ptr<RcQueuePair>& qp, std::uint32_t life, const Introduction& own,
         std::uint32_t interface, std::shared_ptr<carrier::Link>* link) {
    auto caller = std::make_shared<Caller>(qp, life, own);
    const int error = carrier::connect(
        gid::to_address(own.source_gid, interface, 0),
        gid::to_address(own.destination_gid, interface, qp_numbers::port_of(own.destination_qp)),
        caller, caller->link_place());
    if (error == 0)
        *link = *caller->link_place();
    return error;
}

void welcome(const std::shared_ptr<carrier::Link>& link) {
    Greeter::greet(link);
}

std::shared_ptr<carrier::PacketHandler> loop_receiver(const std::shared_ptr<RcQueuePair>& qp) {
    return std::make_shared<LoopReceiver>(qp);
}

}  // namespace fabric::verbs::hand_connect
