// SPDX-License-Identifier: BSD-3-Clause
// Asynchronous events of a context: what ibv_get_async_event returns.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs/event_queue.hpp"

namespace fabric::verbs {

// Thread-safe; its lock is a leaf.
class AsyncEvents {
public:
    int fd() const { return queue_.fd(); }

    // `taken` belongs to the object and counts its events that a program has taken; it is changed
    // under the queue's lock.
    void report(const ibv_async_event& event, std::uint32_t* taken) { queue_.push({event, taken}); }
    int take(ibv_async_event& out);  // 0, EAGAIN or EINTR
    // The object goes: forgets its events that nobody took; returns how many were taken.
    std::uint32_t forget(const std::uint32_t* taken);

private:
    struct Entry {
        ibv_async_event event;
        std::uint32_t* taken;
    };
    EventQueue<Entry> queue_;
};

}  // namespace fabric::verbs
