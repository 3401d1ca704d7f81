// SPDX-License-Identifier: BSD-3-Clause
// Completion channels.
#pragma once

#include <infiniband/verbs.h>

#include "verbs/birth.hpp"
#include "verbs/event_queue.hpp"

namespace fabric::verbs {

class Cq;

class Channel {
public:
    explicit Channel(ibv_context* context);
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    static Channel& of(ibv_comp_channel* shown) { return *reinterpret_cast<Shown*>(shown)->self; }
    ibv_comp_channel* handle() { return &shown_.channel; }

    void add_user();
    void drop_user();
    bool in_use() const;

    EventQueue<Cq*, true> events;  // a leaf under the lock of the CQ
    const Birth birth{};           // the process it was made in

private:
    struct Shown {
        ibv_comp_channel channel;  // first
        Channel* self;
    };
    Shown shown_{};
};

}  // namespace fabric::verbs
