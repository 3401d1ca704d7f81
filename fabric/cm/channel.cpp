// SPDX-License-Identifier: BSD-3-Clause
#include "cm/channel.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <utility>

#include "cm/id.hpp"
#include "cm/process.hpp"

namespace fabric::cm {

Channel::Channel() : rdma_event_channel{-1}, generation_(process_generation()) {}

Channel::~Channel() {
    if (fd >= 0)
        close(fd);
}

std::shared_ptr<Channel> Channel::create() {
    auto channel = std::make_shared<Channel>();
    channel->fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    return channel->fd < 0 ? nullptr : channel;
}

std::shared_ptr<Channel> Channel::of(rdma_event_channel* handle) {
    if (handle == nullptr)
        return nullptr;
    auto* const channel = static_cast<Channel*>(handle);
    if (channel->generation_ != process_generation())
        return nullptr;
    const std::lock_guard guard(channel->lock_);
    return channel->published_;
}

rdma_event_channel* Channel::publish() {
    const std::lock_guard guard(lock_);
    published_ = shared_from_this();
    return this;
}

Channel::Events Channel::retire() {
    Events dropped;
    std::shared_ptr<Channel> self;  // goes after the lock is free
    const std::lock_guard guard(lock_);
    self = std::move(published_);
    if (fd >= 0)
        close(std::exchange(fd, -1));
    for (auto& event : queue_)
        dropped.push_back(std::move(event));
    queue_.clear();
    // A thread that waits is not woken: closing a real channel does not end a read(2) that blocks
    // on it, and rping relies on its event thread not coming back with an error.
    return dropped;
}

void Channel::push(std::unique_ptr<Event> event) {
    const std::lock_guard guard(lock_);
    if (fd < 0)
        return;
    queue_.push_back(std::move(event));
    signal_locked();
}

int Channel::take(Waiting waiting, std::unique_ptr<Event>& out) {
    for (;;) {
        std::unique_lock guard(lock_);
        if (fd < 0)
            return EBADF;
        if (!queue_.empty()) {
            out = std::move(queue_.front());
            queue_.pop_front();
            unsignal_locked();
            out->counted->outstanding.add();
            return 0;
        }
        if (waiting == Waiting::Never)
            return EAGAIN;
        const int descriptor = fd;
        const std::uint32_t seen = pushes_.load();
        guard.unlock();
        if (const int error = wait_for_push(descriptor, seen); error != 0)
            return error;
    }
}

Channel::Events Channel::extract(const Id& id) {
    Events out;
    const std::lock_guard guard(lock_);
    extract_locked(id, out);
    return out;
}

void Channel::move_to(Channel& to, const Id& id) {
    if (&to == this)
        return;
    const std::scoped_lock guard(lock_, to.lock_);
    Events moved;
    extract_locked(id, moved);
    for (auto& event : moved) {
        to.queue_.push_back(std::move(event));
        to.signal_locked();
    }
}

void Channel::extract_locked(const Id& id, Events& out) {
    std::deque<std::unique_ptr<Event>> kept;
    for (auto& event : queue_) {
        if (event->counted.get() != &id) {
            kept.push_back(std::move(event));
            continue;
        }
        out.push_back(std::move(event));
        unsignal_locked();
    }
    queue_ = std::move(kept);
}

// The descriptor's count is the length of the queue whenever the lock is free, so that neither of
// these ever waits.
void Channel::signal_locked() {
    const std::uint64_t one = 1;
    if (fd >= 0 && write(fd, &one, sizeof one) != sizeof one)
        return;
    wake_waiters();
}

void Channel::unsignal_locked() {
    std::uint64_t one = 0;
    if (fd >= 0 && read(fd, &one, sizeof one) != sizeof one)
        return;
}

void Channel::wake_waiters() {
    pushes_.fetch_add(1);
    syscall(SYS_futex, &pushes_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

// A futex rather than the descriptor: the kernel restarts it after a signal exactly when it would
// restart the blocking read of a real channel.
int Channel::wait_for_push(int descriptor, std::uint32_t seen) {
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0)
        return errno;
    if ((flags & O_NONBLOCK) != 0)
        return EAGAIN;
    if (syscall(SYS_futex, &pushes_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0) == 0)
        return 0;
    return errno == EAGAIN ? 0 : errno;
}

}  // namespace fabric::cm
