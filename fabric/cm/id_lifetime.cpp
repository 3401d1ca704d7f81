// SPDX-License-Identifier: BSD-3-Clause
// rdma_create_id, rdma_destroy_id, rdma_migrate_id.
#include "cm/id_lifetime.hpp"

#include <utility>

#include "cm/api.hpp"
#include "cm/handshake.hpp"
#include "cm/id.hpp"
#include "cm/incoming.hpp"

namespace fabric::cm {
namespace {

bool known_space(rdma_port_space space) {
    return space == RDMA_PS_TCP || space == RDMA_PS_UDP || space == RDMA_PS_IPOIB ||
           space == RDMA_PS_IB;
}

ibv_qp_type type_of(rdma_port_space space) {
    return space == RDMA_PS_UDP || space == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
}

// What queued events there are leave with the id; connect requests among them are rejected.
Channel::Events extract_events(Id& id) {
    const std::lock_guard guard(id.channel_lock);
    return id.events->extract(id);
}

void take_down(Id& id) {
    end_connection(id);
    id.disarm();
    id.state = State::Gone;
    id.listener.reset();
    id.reservation.release();
    refuse_all(extract_events(id));
}

void release_event(Id& id) {
    if (id.event != nullptr)
        rdma_ack_cm_event(std::exchange(id.event, nullptr));
}

void retire_own_channel(const std::shared_ptr<Channel>& events) {
    refuse_all(events->retire());
}

int destroy(const std::shared_ptr<Id>& id) {
    {
        const Turn turn(id);
        take_down(*id);
    }
    release_event(*id);
    id->outstanding.wait_for_none();
    if (id->is_synchronous())
        retire_own_channel(id->events);
    id->published.reset();
    return 0;
}

int migrate(const std::shared_ptr<Id>& id, rdma_event_channel* channel) {
    const bool synchronous = channel == nullptr;
    if (synchronous && id->is_synchronous())
        return EINVAL;
    const auto target = synchronous ? Channel::create() : Channel::of(channel);
    if (target == nullptr)
        return synchronous ? errno : EINVAL;
    std::shared_ptr<Channel> old;
    const bool was_synchronous = id->is_synchronous();
    {
        const std::lock_guard guard(id->channel_lock);
        id->events->move_to(*target, *id);
        old = std::exchange(id->events, target);
        id->synchronous = synchronous;
        id->channel = synchronous ? target->publish() : target.get();
    }
    if (was_synchronous)
        release_event(*id);
    id->outstanding.wait_for_none();
    if (was_synchronous)
        retire_own_channel(old);
    return 0;
}

}  // namespace

int create_id(rdma_event_channel* channel, rdma_port_space space, ibv_qp_type type,
              std::shared_ptr<Id>* out) {
    if (!known_space(space))
        return EINVAL;
    const auto events = Channel::of(channel);
    if (channel != nullptr && events == nullptr)
        return EINVAL;
    *out = Id::create(events, space, type);
    return *out == nullptr ? errno : 0;
}

}  // namespace fabric::cm

using namespace fabric::cm;

RDMACM_API int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                              rdma_port_space ps) {
    if (id == nullptr)
        return result(EINVAL);
    std::shared_ptr<Id> created;
    if (const int error = create_id(channel, ps, type_of(ps), &created); error != 0)
        return result(error);
    created->context = context;
    *id = created->publish();
    return 0;
}

// In a forked child nothing is done: the id is the parent's.
RDMACM_API int rdma_destroy_id(rdma_cm_id* id) {
    if (Id::is_inherited(id))
        return 0;
    const auto target = Id::of(id);
    return result(target == nullptr ? EINVAL : destroy(target));
}

RDMACM_API int rdma_migrate_id(rdma_cm_id* id, rdma_event_channel* channel) {
    const auto target = Id::of(id);
    return result(target == nullptr ? EINVAL : migrate(target, channel));
}
