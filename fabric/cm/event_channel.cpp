// SPDX-License-Identifier: BSD-3-Clause
// Event channels as programs use them: create, destroy, get the next event.
#include "cm/api.hpp"
#include "cm/channel.hpp"
#include "cm/id.hpp"
#include "cm/incoming.hpp"

namespace fabric::cm {
namespace {

// A connect request leaves the queue: its id becomes the program's. False if that failed; the peer
// is rejected then and the event is not shown.
bool hand_over(Event& event, const std::shared_ptr<Channel>& channel) {
    if (event.fresh == nullptr)
        return true;
    event.counted->backlog.fetch_add(1);
    if (adopt(*event.fresh, *event.counted, channel)) {
        event.fresh = nullptr;
        return true;
    }
    refuse(event.fresh, wire::kCmConsumerReject);
    event.counted->outstanding.acknowledge();
    return false;
}

}  // namespace

int next_event(rdma_event_channel* channel, Waiting waiting, rdma_cm_event** event) {
    const auto source = Channel::of(channel);
    if (source == nullptr)
        return EINVAL;
    std::unique_ptr<Event> next;
    do {
        if (const int error = source->take(waiting, next); error != 0)
            return error;
    } while (!hand_over(*next, source));
    *event = next.release();
    return 0;
}

}  // namespace fabric::cm

using namespace fabric::cm;

RDMACM_API rdma_event_channel* rdma_create_event_channel() {
    const auto channel = Channel::create();
    return channel == nullptr ? nullptr : channel->publish();
}

RDMACM_API void rdma_destroy_event_channel(rdma_event_channel* channel) {
    if (const auto target = Channel::of(channel))
        refuse_all(target->retire());
}

RDMACM_API int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
    return result(event == nullptr ? EINVAL : next_event(channel, Waiting::AsDescriptor, event));
}
