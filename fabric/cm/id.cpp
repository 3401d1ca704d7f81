// SPDX-License-Identifier: BSD-3-Clause
#include "cm/id.hpp"

#include <cerrno>
#include <utility>

#include "cm/api.hpp"
#include "cm/control.hpp"
#include "cm/device.hpp"
#include "cm/process.hpp"
#include "trace.hpp"

namespace fabric::cm {

Id::Id(rdma_port_space space, ibv_qp_type type) : rdma_cm_id{}, generation_(process_generation()) {
    ps = space;
    qp_type = type;
}

std::shared_ptr<Id> Id::create(std::shared_ptr<Channel> channel, rdma_port_space space,
                               ibv_qp_type type) {
    auto id = std::make_shared<Id>(space, type);
    id->synchronous = channel == nullptr;
    id->events = channel != nullptr ? std::move(channel) : Channel::create();
    if (id->events == nullptr)
        return nullptr;
    id->channel = id->synchronous ? id->events->publish() : id->events.get();
    return id;
}

std::shared_ptr<Id> Id::of(rdma_cm_id* handle) {
    if (handle == nullptr)
        return nullptr;
    auto* const id = static_cast<Id*>(handle);
    return id->generation_ == process_generation() ? id->shared_from_this() : nullptr;
}

bool Id::is_inherited(const rdma_cm_id* handle) {
    return handle != nullptr && static_cast<const Id*>(handle)->generation_ != process_generation();
}

rdma_cm_id* Id::publish() {
    published = shared_from_this();
    return this;
}

int Id::attach_device() {
    if (verbs != nullptr)
        return 0;
    const Device* const device = Device::get();
    if (device == nullptr)
        return ENODEV;
    pd = device->default_pd();
    if (pd == nullptr)
        return ENOMEM;
    verbs = device->context();
    port_num = 1;
    return 0;
}

std::uint64_t Id::service_id() const {
    return (static_cast<std::uint64_t>(ps) << 16) + port_of(route.addr.src_storage);
}

bool Id::is_synchronous() {
    const std::lock_guard guard(channel_lock);
    return synchronous;
}

void Id::notify(std::unique_ptr<Event> news) {
    if (news->id == nullptr)
        news->id = this;
    news->counted = shared_from_this();
    if (trace::event_enabled(LogLevel::Info))
        trace::event(LogLevel::Info, link != nullptr ? link->id() : 0, "event %s status %d",
                     event_name(news->event), news->status);
    const std::lock_guard guard(channel_lock);
    events->push(std::move(news));
}

void Id::later(std::function<void()> work) {
    if (!strand.add(std::move(work)))
        return;
    // Links and timers call on the engine's thread with nothing held that an id's work may want.
    if (carrier::Engine::instance().here())
        strand.run();
    else
        carrier::Engine::instance().post([self = shared_from_this()] { self->strand.run(); });
}

void Id::arm(std::chrono::milliseconds delay, void (*expired)(Id&)) {
    disarm();
    armed_ = true;
    const auto epoch = timer_epoch_;
    const auto call = [weak = weak_from_this(), epoch, expired] {
        const auto id = weak.lock();
        if (id == nullptr)
            return;
        Id& target = *id;
        target.later([id, epoch, expired] {
            if (!id->armed_ || id->timer_epoch_ != epoch)
                return;
            id->armed_ = false;
            expired(*id);
        });
    };
    timer_.set(delay, call);
}

void Id::disarm() {
    ++timer_epoch_;
    armed_ = false;
    timer_.cancel();
}

void Id::send(const wire::CmBody& body) {
    if (link == nullptr)
        return;
    const auto mad = wire::encode({.transaction = terms.transaction, .body = body});
    link->send_datagram(mad);
}

void Id::drop_link() {
    if (const auto closing = std::exchange(link, nullptr))
        closing->close();
    if (const auto detached = std::exchange(control, nullptr))
        detached->detach();
}

Turn::Turn(std::shared_ptr<Id> id) : id_(std::move(id)) {
    id_->strand.enter();
}

Turn::~Turn() {
    if (id_->strand.leave())
        carrier::Engine::instance().post([id = std::move(id_)] { id->strand.run(); });
}

namespace {

int outcome_of(const rdma_cm_event& event) {
    if (event.status == 0)
        return 0;
    if (event.event == RDMA_CM_EVENT_REJECTED)
        return ECONNREFUSED;
    return event.status < 0 ? -event.status : event.status;
}

}  // namespace

int complete(Id& id, Waiting waiting) {
    if (!id.is_synchronous())
        return 0;
    if (id.event != nullptr)
        rdma_ack_cm_event(std::exchange(id.event, nullptr));
    const int error = next_event(id.channel, waiting, &id.event);
    if (error == EAGAIN && waiting == Waiting::Never)
        return 0;
    return error != 0 ? error : outcome_of(*id.event);
}

}  // namespace fabric::cm
