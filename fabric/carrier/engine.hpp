// SPDX-License-Identifier: BSD-3-Clause
// The one thread of the fabric in a process: waits for sockets and timers, sleeps otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace fabric::carrier {

class Watcher {
public:
    virtual ~Watcher() = default;
    virtual void ready(std::uint32_t epoll_events) = 0;  // on the engine's thread
    virtual void settle() {}                             // what postpone() put off; any thread
};

// Thread-safe. Started by the first call that needs it, never by a constructor of the library. A
// forked child has none and starts its own on first use; what the parent had open is closed in the
// child. Its own lock is a leaf: any function may be called with any other lock held, and no
// callback runs under it.
class Engine {
public:
    static Engine& instance();

    int watch(int fd, std::uint32_t epoll_events, std::shared_ptr<Watcher> watcher);  // 0 or errno
    void change(int fd, std::uint32_t epoll_events);
    void unwatch(int fd);  // a call to ready() may still be running on the engine's thread

    // 0 if the engine cannot be started (out of threads or descriptors; logged): the call is not
    // made then.
    using TimerId = std::uint64_t;
    TimerId after(std::chrono::nanoseconds delay, std::function<void()> call);
    void cancel(TimerId id);                // a call that has begun still ends
    void post(std::function<void()> call);  // run on the engine's thread soon

    // For a thread that polls in vain and so takes the CPU time the engine's thread would need:
    // makes one round of the engine's work if nobody else does, without waiting. "The engine's
    // thread" then means the thread that makes the round; it is always one.
    void assist();
    // For a thread that waits for `fd`: does the engine's work until that is readable or a round
    // was made, whichever comes first; if other threads wait as well, it just waits. 0 or EINTR.
    // taker() is `taker` in that round.
    int wait_for(int fd, const void* taker);
    // What the calling thread will take next, if it makes a round in wait_for().
    static const void* taker();
    // For ready(), at its end: the watcher's settle() is called later, before this thread comes
    // back for the next round or, if it stays away, soon. False: it is not, do it yourself. So what
    // the program does next can go with it.
    bool postpone(std::shared_ptr<Watcher> watcher);
    // The caller is the engine's thread.
    bool here() const;

private:
    Engine() = default;
};

// One call to come, given up with its owner: what it holds does not outlive that until it would be
// due. Not thread-safe; a call that has begun still ends.
class Timer {
public:
    Timer() = default;
    ~Timer() { cancel(); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    void set(std::chrono::nanoseconds delay, std::function<void()> call);  // instead of the last
    void cancel();

private:
    Engine::TimerId id_ = 0;
};

}  // namespace fabric::carrier
