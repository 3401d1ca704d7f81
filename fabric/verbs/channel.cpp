// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/channel.hpp"

#include <memory>

#include "verbs/api.hpp"
#include "verbs/context.hpp"
#include "verbs/cq.hpp"

namespace fabric::verbs {

Channel::Channel(ibv_context* context) {
    shown_.channel.context = context;
    shown_.channel.fd = events.fd();
    shown_.self = this;
}

void Channel::add_user() {
    __atomic_fetch_add(&shown_.channel.refcnt, 1, __ATOMIC_SEQ_CST);
}

void Channel::drop_user() {
    __atomic_fetch_sub(&shown_.channel.refcnt, 1, __ATOMIC_SEQ_CST);
}

bool Channel::in_use() const {
    return __atomic_load_n(&shown_.channel.refcnt, __ATOMIC_SEQ_CST) != 0;
}

}  // namespace fabric::verbs

using namespace fabric::verbs;

FABRIC_API ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
    auto channel = std::make_unique<Channel>(context);
    if (channel->events.fd() < 0)
        return nullptr;  // errno of eventfd()
    Context::of(context).add_user();
    return channel.release()->handle();
}

FABRIC_API int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
    Channel& self = Channel::of(channel);
    if (self.birth.inherited())
        return 0;
    if (self.in_use())
        return EBUSY;
    Context& context = Context::of(channel->context);
    delete &self;
    context.drop_user();
    return 0;
}

FABRIC_API int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
    Cq* which = nullptr;
    const int error =
        Channel::of(channel).events.take(which, [](Cq* taken) { taken->count_event(); });
    if (error != 0) {
        errno = error;
        return -1;
    }
    *cq = which->handle();
    *cq_context = (*cq)->cq_context;
    return 0;
}
