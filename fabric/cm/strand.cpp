// SPDX-License-Identifier: BSD-3-Clause
#include "cm/strand.hpp"

#include <utility>

namespace fabric::cm {

void Strand::enter() {
    std::unique_lock guard(lock_);
    free_.wait(guard, [this] { return !taken_; });
    taken_ = true;
}

bool Strand::leave() {
    const std::lock_guard guard(lock_);
    taken_ = false;
    free_.notify_one();
    if (work_.empty() || scheduled_)
        return false;
    scheduled_ = true;
    return true;
}

bool Strand::add(std::function<void()> work) {
    const std::lock_guard guard(lock_);
    work_.push_back(std::move(work));
    if (taken_ || scheduled_)
        return false;
    scheduled_ = true;
    return true;
}

void Strand::run() {
    std::unique_lock guard(lock_);
    scheduled_ = false;
    if (taken_)
        return;
    taken_ = true;
    while (!work_.empty()) {
        const auto work = std::move(work_.front());
        work_.pop_front();
        guard.unlock();
        work();
        guard.lock();
    }
    taken_ = false;
    free_.notify_one();
}

}  // namespace fabric::cm
