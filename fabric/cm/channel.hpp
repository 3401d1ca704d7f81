// SPDX-License-Identifier: BSD-3-Clause
// Event channels: a queue of events behind a descriptor that is readable while the queue is not
// empty (rdma_create_event_channel(3), rdma_get_cm_event(3)).
#pragma once

#include <rdma/rdma_cma.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "cm/event.hpp"

namespace fabric::cm {

enum class Waiting : std::uint8_t { AsDescriptor, Never };

// Thread-safe. The handle a program holds keeps the channel alive, and so does every id on it.
// Its lock may be taken with an id's channel lock held, and is a leaf itself.
class Channel final : public rdma_event_channel, public std::enable_shared_from_this<Channel> {
public:
    using Events = std::vector<std::unique_ptr<Event>>;

    // nullptr with errno set (EMFILE, ENFILE, ENOMEM).
    static std::shared_ptr<Channel> create();
    // The channel behind a program's handle; nullptr for NULL and in a forked child.
    static std::shared_ptr<Channel> of(rdma_event_channel* handle);

    Channel();
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    // Gives the program its handle.
    rdma_event_channel* publish();
    // Takes it back: closes the descriptor and gives what was queued, for dropping.
    Events retire();

    void push(std::unique_ptr<Event> event);
    // The oldest event, counted as outstanding for its id. Waits as the descriptor's O_NONBLOCK
    // says: EAGAIN; EINTR after a signal whose handler does not ask for a restart; EBADF once
    // retired. EAGAIN also if it must not wait.
    int take(Waiting waiting, std::unique_ptr<Event>& out);
    // Takes out everything queued on behalf of this id.
    Events extract(const Id& id);
    // The same, to the end of another channel, in order.
    void move_to(Channel& to, const Id& id);

private:
    void signal_locked();
    void unsignal_locked();
    void extract_locked(const Id& id, Events& out);
    int wait_for_push(int descriptor, std::uint32_t seen);
    void wake_waiters();

    const std::uint32_t generation_;
    std::mutex lock_;
    std::deque<std::unique_ptr<Event>> queue_;
    std::atomic<std::uint32_t> pushes_{0};  // what waiting threads watch
    std::shared_ptr<Channel> published_;    // the program's reference
};

// The next event of a program's channel, as rdma_get_cm_event gives it. EINVAL for a NULL channel.
int next_event(rdma_event_channel* channel, Waiting waiting, rdma_cm_event** event);

}  // namespace fabric::cm
