// SPDX-License-Identifier: BSD-3-Clause
// A queue of events behind a real descriptor: level-triggered, so that poll, epoll and
// fcntl(O_NONBLOCK) work on it as on the descriptors of a kernel device. Invariant: the eventfd
// counts exactly the queued events, but for those that a thread queues while it waits for one of
// them: it takes one at once and sees to the rest.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "carrier/engine.hpp"
#include "uncancellable.hpp"
#include "verbs/restart.hpp"

namespace fabric::verbs {

// Thread-safe; its lock is a leaf. kBusy: who waits does the engine's work meanwhile. Of those who
// wait only one does it, so it is for threads that wait for what that work brings.
template <typename Event, bool kBusy = false>
class EventQueue {
public:
    EventQueue() : fd_(eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC)) {}
    ~EventQueue() {
        if (fd_ >= 0)
            ::close(fd_);
    }
    EventQueue(const EventQueue&) = delete;
    EventQueue& operator=(const EventQueue&) = delete;

    int fd() const { return fd_; }  // -1 with errno of the constructor if there is none

    void push(Event event) {
        const Uncancellable guarded;
        const std::lock_guard guard(mutex_);
        events_.push_back(std::move(event));
        if (carrier::Engine::taker() == this)
            ++uncounted_;
        else
            count_up(1);
    }

    // Waits for an event unless the descriptor is non-blocking. `taken(event)` runs before anyone
    // else can take the next one. 0, EAGAIN, or EINTR after a signal whose handler does not ask for
    // a restart.
    template <typename Taken>
    int take(Event& out, Taken taken) {
        for (;;) {
            if (try_take(out, taken))
                return 0;
            if ((fcntl(fd_, F_GETFL) & O_NONBLOCK) != 0)
                return EAGAIN;
            const int error = wait();
            if (error != 0 && (error != EINTR || !restarts_after_signal()))
                return error;
        }
    }

    // Takes all events out that `match`; then runs `after` under the same lock.
    template <typename Match, typename After>
    void remove(Match match, After after) {
        const Uncancellable guarded;
        const std::lock_guard guard(mutex_);
        for (std::size_t i = first_; i < events_.size();) {
            if (match(events_[i])) {
                events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(i));
                uncount();
            } else {
                ++i;
            }
        }
        after();
    }

private:
    static constexpr std::size_t kTakenKept = 64;

    int wait() {
        if constexpr (kBusy)
            return carrier::Engine::instance().wait_for(fd_, this);
        pollfd readable = {fd_, POLLIN, 0};
        return poll(&readable, 1, -1) < 0 ? errno : 0;
    }

    template <typename Taken>
    bool try_take(Event& out, Taken& taken) {
        const Uncancellable guarded;
        const std::lock_guard guard(mutex_);
        if (first_ == events_.size())
            return false;
        out = std::move(events_[first_++]);
        drop_taken();
        uncount();
        if (uncounted_ > 0)
            count_up(std::exchange(uncounted_, 0));
        taken(out);
        return true;
    }

    // Not each time, so that it costs next to nothing; but in time, since a queue that always has
    // an event in it would grow for ever.
    void drop_taken() {
        const bool some_left = first_ < events_.size();
        if (some_left && (first_ < kTakenKept || first_ < events_.size() / 2))
            return;
        events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }

    void count_up(std::uint64_t events) { static_cast<void>(!write(fd_, &events, sizeof events)); }

    // One event is gone.
    void uncount() {
        std::uint64_t one = 0;
        if (uncounted_ > 0)
            --uncounted_;
        else
            static_cast<void>(!read(fd_, &one, sizeof one));
    }

    const int fd_;
    std::mutex mutex_;
    std::vector<Event> events_;  // those before first_ are taken
    std::size_t first_ = 0;
    std::uint64_t uncounted_ = 0;
};

}  // namespace fabric::verbs
