// SPDX-License-Identifier: BSD-3-Clause
#include "carrier/relief.hpp"

#include <algorithm>
#include <utility>

#include "carrier/engine.hpp"

namespace fabric::carrier {
namespace {

using Clock = std::chrono::steady_clock;

// A thread that did the work within this time is taken to be at it.
constexpr std::chrono::nanoseconds kLately{50'000};
// How long the engine's thread stays out of its way at a time.
constexpr std::chrono::nanoseconds kShortestPause{20'000};
constexpr std::chrono::nanoseconds kLongestPause{200'000};
// For so long after several threads have waited at a time none of them leads.
constexpr std::chrono::milliseconds kCrowded{20};

}  // namespace

void Relief::assisted() {
    last_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

bool Relief::lately(const std::atomic<Clock::rep>& what, std::chrono::nanoseconds time) const {
    const Clock::duration last(what.load(std::memory_order_relaxed));
    return Clock::now().time_since_epoch() - last < time;
}

bool Relief::begin_wait() {
    if (waiting_.fetch_add(1) > 0) {
        crowded_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
        return false;
    }
    if (lately(crowded_, kCrowded) || leader_.exchange(true))
        return false;
    sessions_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void Relief::end_wait(bool led) {
    const bool alone = waiting_.fetch_sub(1) == 1;
    if (!led)
        return;
    leave();
    if (alone)
        return;
    const std::lock_guard guard(mutex_);
    hurry_ = true;
    hurry_up_.notify_one();
}

void Relief::leave() {
    assisted();
    leader_.store(false);
    if (parked_.exchange(0) != 0)
        parked_.notify_one();
}

bool Relief::at_work() const {
    return leader_.load(std::memory_order_relaxed) || lately(last_, kLately);
}

// Being woken for each event would only take the CPU from the other thread. It may cease at any
// moment, so this one looks often at first, and less often the longer the other one goes on. Once a
// leader has slept for long it looks no more, and that leader wakes it: not so before, because
// waking it costs as much as it saves.
void Relief::stand_by() {
    {
        const std::lock_guard guard(mutex_);
        standing_by_ = true;
        hurry_ = false;
    }
    auto pause = kShortestPause;
    bool hurried = false;
    do {
        const std::uint32_t session = sessions_.load(std::memory_order_relaxed);
        hurried = nap(pause);
        const bool same = session == sessions_.load(std::memory_order_relaxed);
        if (!hurried && same && pause == kLongestPause)
            park();
        pause = std::min(2 * pause, kLongestPause);
    } while (!hurried && at_work());
    {
        const std::lock_guard guard(mutex_);
        standing_by_ = false;
    }
    settle();
}

// True if somebody cannot wait.
bool Relief::nap(std::chrono::nanoseconds time) {
    std::unique_lock lock(mutex_);
    return hurry_up_.wait_for(lock, time, [this] { return hurry_; });
}

void Relief::park() {
    parked_.store(1);
    if (leader_.load())
        parked_.wait(1);
    parked_.store(0);
}

bool Relief::postpone(std::shared_ptr<Watcher> watcher) {
    const std::lock_guard guard(mutex_);
    if (!standing_by_)
        return false;
    postponed_.push_back(std::move(watcher));
    some_postponed_.store(true, std::memory_order_relaxed);
    return true;
}

void Relief::settle() {
    if (!some_postponed_.load(std::memory_order_relaxed))
        return;
    std::vector<std::shared_ptr<Watcher>> due;
    {
        const std::lock_guard guard(mutex_);
        due.swap(postponed_);
        some_postponed_.store(false, std::memory_order_relaxed);
    }
    for (const auto& watcher : due)
        watcher->settle();
    const std::lock_guard guard(mutex_);
    due.clear();
    if (postponed_.empty())
        postponed_.swap(due);  // keeps its memory
}

}  // namespace fabric::carrier
