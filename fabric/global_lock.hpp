// SPDX-License-Identifier: BSD-3-Clause
// A lock of the whole process, not of one object. A fork waits for it, so that the child finds it
// free and what it protects whole, whatever the parent's other threads were doing.
#pragma once

#include <atomic>
#include <mutex>

namespace fabric {

// A leaf but for the locks of the engine and of descriptors: no other lock is taken, and no other
// function waited for, while one of these is held. Never destroyed.
class GlobalLock {
public:
    constexpr GlobalLock() = default;
    GlobalLock(const GlobalLock&) = delete;
    GlobalLock& operator=(const GlobalLock&) = delete;

    void lock() {
        if (!known_.load(std::memory_order_acquire))
            enlist();
        mutex_.lock();
    }
    void unlock() { mutex_.unlock(); }

    // Around a fork, in the thread that forks; the second one in the parent and in the child.
    static void lock_all() {
        list_mutex.lock();
        for (GlobalLock* each = first; each != nullptr; each = each->next_)
            each->mutex_.lock();
    }
    static void unlock_all() {
        for (GlobalLock* each = first; each != nullptr; each = each->next_)
            each->mutex_.unlock();
        list_mutex.unlock();
    }

private:
    void enlist() {
        const std::lock_guard guard(list_mutex);
        if (known_.load(std::memory_order_relaxed))
            return;
        next_ = first;
        first = this;
        known_.store(true, std::memory_order_release);
    }

    inline static constinit std::mutex list_mutex;
    inline static constinit GlobalLock* first = nullptr;

    std::mutex mutex_;
    std::atomic<bool> known_{false};
    GlobalLock* next_ = nullptr;
};

}  // namespace fabric
