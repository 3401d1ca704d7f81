// SPDX-License-Identifier: BSD-3-Clause
// The loop that measures: keeps the connections of one thread full and times each batch from
// posting to completion.
#pragma once

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "clock.hpp"
#include "histogram.hpp"
#include "rdma_initiator.hpp"

namespace perf {

enum class Phase { warm_up, measure, stop };

// Written by one thread, read by others at any time.
class Counter {
public:
    void add(std::uint64_t number) {
        value_.store(value_.load(std::memory_order_relaxed) + number, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

// What one thread has measured; on lines of the cache that no other thread writes to.
struct alignas(kLine) ThreadResult {
    Counter done;        // operations since the start
    Counter operations;  // those that are measured
    Histogram latency;
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    Verified verified;
    std::string failure;
};

// Shared by the threads of a run and the thread that watches them.
class RunControl {
public:
    // `operations_per_thread` 0: until the phase is Phase::stop.
    RunControl(std::uint64_t operations_per_thread, unsigned threads)
        : operations_per_thread_(operations_per_thread), running_(threads) {}

    [[nodiscard]] Phase phase() const { return phase_.load(std::memory_order_relaxed); }
    void set_phase(Phase phase) { phase_.store(phase, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t operations_per_thread() const { return operations_per_thread_; }

    void thread_ends();
    // Whether all threads have ended within the time.
    bool wait_ended(std::uint64_t timeout_ns);

private:
    const std::uint64_t operations_per_thread_;
    std::atomic<Phase> phase_{Phase::warm_up};
    std::mutex mutex_;
    std::condition_variable ended_;
    unsigned running_;
};

template <typename Initiator>
class Driver {
public:
    Driver(std::vector<std::unique_ptr<Initiator>>& initiators, const Case& point,
           RunControl& control, ThreadResult& result)
        : initiators_(initiators), point_(point), control_(control), result_(result) {}

    void run() {
        last_progress_ns_ = now_ns();
        bool good = fill();
        while (good && !finished()) {
            good = step() && follow_phase();
        }
        if (good) {
            drain();
        }
        for (auto& initiator : initiators_) {
            result_.verified.add(initiator->slots().verified());
        }
    }

private:
    static constexpr std::uint64_t kStallNs = 10'000'000'000;  // nothing completes: give up
    static constexpr std::uint64_t kDrainNs = 5'000'000'000;
    static constexpr unsigned kSpinsPerLook = 1024;
    static constexpr int kSleepMs = 50;

    [[nodiscard]] bool counts() const { return control_.operations_per_thread() != 0; }

    bool finished() {
        if (counts() && result_.operations.get() >= control_.operations_per_thread()) {
            result_.end_ns = last_progress_ns_;
            return true;
        }
        return phase_ == Phase::stop;
    }

    // False after a failure.
    bool follow_phase() {
        const Phase phase = control_.phase();
        if (phase == phase_) [[likely]] {
            return true;
        }
        const bool begins = phase_ == Phase::warm_up;
        const bool refills = begins && phase == Phase::measure && counts();
        if (refills && !empty()) {
            return false;
        }
        if (begins) {
            result_.begin_ns = now_ns();
            result_.end_ns = result_.begin_ns;
        }
        if (phase == Phase::stop) {
            result_.end_ns = now_ns();
        }
        phase_ = phase;
        return !refills || fill();
    }

    bool fill() {
        for (auto& initiator : initiators_) {
            for (std::uint32_t slot = 0; slot < initiator->slots().size(); slot++) {
                if (wants_more() && !post(*initiator, slot, now_ns())) {
                    return false;
                }
            }
        }
        return true;
    }

    // What is counted is posted within the time that is taken, from the first to the last.
    bool empty() {
        draining_ = true;
        while (in_flight()) {
            if (!step()) {
                return false;
            }
        }
        draining_ = false;
        return true;
    }

    [[nodiscard]] bool wants_more() const {
        return !counts() || phase_ != Phase::measure || posted_ < control_.operations_per_thread();
    }

    // One look at each connection. False after a failure.
    bool step() {
        bool progress = false;
        for (auto& initiator : initiators_) {
            const int count = initiator->poll(done_);
            if (count < 0) [[unlikely]] {
                return fails(initiator->failure());
            }
            if (count > 0) {
                progress = true;
                if (!complete(*initiator, count, now_ns())) {
                    return false;
                }
            }
        }
        return progress || idle();
    }

    bool complete(Initiator& initiator, int count, std::uint64_t now) {
        last_progress_ns_ = now;
        idle_spins_ = 0;
        for (int i = 0; i < count; i++) {
            const Done& done = done_[static_cast<std::size_t>(i)];
            if (done.was_check) {
                initiator.slots().check_read_back(done.slot);
            } else {
                account(initiator, done.slot, now);
                bool later = false;
                if (point_.verify && !initiator.begin_check(done.slot, later)) {
                    return fails(initiator.failure());
                }
                if (later) {
                    continue;
                }
            }
            if (!draining_ && wants_more() && !post(initiator, done.slot, now_ns())) {
                return false;
            }
        }
        return true;
    }

    void account(Initiator& initiator, std::uint32_t slot, std::uint64_t now) {
        result_.done.add(point_.batch);
        if (phase_ == Phase::measure) {
            result_.latency.record(now - initiator.slots()[slot].posted_ns);
            result_.operations.add(point_.batch);
        }
    }

    bool post(Initiator& initiator, std::uint32_t slot, std::uint64_t now) {
        initiator.slots()[slot].posted_ns = now;
        posted_ += phase_ == Phase::measure ? point_.batch : 0;
        return initiator.post(slot) || fails(initiator.failure());
    }

    bool idle() {
        if (point_.wait == Wait::event) {
            sleep();
        } else if (++idle_spins_ % kSpinsPerLook != 0) {
            return true;
        }
        if (now_ns() - last_progress_ns_ > kStallNs) {
            return fails(fmt::format("nothing has completed for {} s", kStallNs / 1'000'000'000));
        }
        return true;
    }

    void sleep() {
        polled_.clear();
        for (auto& initiator : initiators_) {
            polled_.push_back({initiator->fd(), initiator->events(), 0});
        }
        if (::poll(polled_.data(), polled_.size(), kSleepMs) <= 0) {
            return;
        }
        for (std::size_t i = 0; i < polled_.size(); i++) {
            if (polled_[i].revents != 0) {
                initiators_[i]->take_event();
            }
        }
    }

    // Waits for what is in flight, so that the connection can be closed in order.
    void drain() {
        phase_ = Phase::stop;
        draining_ = true;
        const std::uint64_t end = now_ns() + kDrainNs;
        while (in_flight() && now_ns() < end && step()) {
        }
    }

    bool in_flight() {
        return std::any_of(initiators_.begin(), initiators_.end(), [](auto& initiator) {
            SlotTable& slots = initiator->slots();
            for (std::size_t i = 0; i < slots.size(); i++) {
                if (slots[i].pending != 0) {
                    return true;
                }
            }
            return false;
        });
    }

    bool fails(const std::string& why) {
        if (result_.end_ns == result_.begin_ns) {
            result_.end_ns = last_progress_ns_;
        }
        result_.failure = why;
        return false;
    }

    std::vector<std::unique_ptr<Initiator>>& initiators_;
    const Case point_;
    RunControl& control_;
    ThreadResult& result_;
    Phase phase_ = Phase::warm_up;
    DoneList done_{};
    std::vector<pollfd> polled_;
    std::uint64_t last_progress_ns_ = 0;
    std::uint64_t posted_ = 0;  // operations, since measuring began
    unsigned idle_spins_ = 0;
    bool draining_ = false;
};

}  // namespace perf
