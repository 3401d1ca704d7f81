// SPDX-License-Identifier: BSD-3-Clause
// Which thread does the engine's work. Threads of the program that wait for completions would only
// be woken by the engine's thread after it, so they do its work themselves: by assisting (rounds
// between polls in vain) or by leading (asleep until there is work). The engine's thread stands by
// meanwhile, and takes over soon after they cease.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace fabric::carrier {

class Watcher;

// Thread-safe; its lock is a leaf.
class Relief {
public:
    void assisted();  // a round was made between two polls
    // A thread begins to wait. True: it leads meanwhile. Where several threads wait none does,
    // since the others would have to wait for what it does between two waits.
    bool begin_wait();
    void end_wait(bool led);

    // A thread leads, or made a round a moment ago.
    bool at_work() const;
    // The engine's thread: returns when no other thread is at work.
    void stand_by();

    // What a round leaves to be done after it: the watcher's settle(). False: it must be done at
    // once, since the engine's thread does not look after this.
    bool postpone(std::shared_ptr<Watcher> watcher);
    void settle();  // does what was postponed; the engine's lock of rounds is not needed

private:
    bool lately(const std::atomic<std::chrono::steady_clock::rep>& what,
                std::chrono::nanoseconds time) const;
    void leave();
    bool nap(std::chrono::nanoseconds time);
    void park();

    std::atomic<std::chrono::steady_clock::rep> last_{0};  // when another thread was last at work
    std::atomic<std::chrono::steady_clock::rep> crowded_{0};  // when several threads waited last
    std::atomic<unsigned> waiting_{0};
    std::atomic<bool> leader_{false};
    std::atomic<std::uint32_t> sessions_{0};  // how often a thread has begun to lead
    std::atomic<std::uint32_t> parked_{0};    // the engine's thread sleeps until the leader leaves
    std::atomic<bool> some_postponed_{false};
    std::mutex mutex_;  // of what follows
    std::condition_variable hurry_up_;
    bool hurry_ = false;
    bool standing_by_ = false;
    std::vector<std::shared_ptr<Watcher>> postponed_;
};

}  // namespace fabric::carrier
