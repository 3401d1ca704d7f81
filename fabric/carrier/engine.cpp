// SPDX-License-Identifier: BSD-3-Clause
#include "carrier/engine.hpp"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "carrier/descriptor.hpp"
#include "carrier/engine_fork.hpp"
#include "carrier/relief.hpp"
#include "global_lock.hpp"
#include "log.hpp"
#include "uncancellable.hpp"

namespace fabric::carrier {
namespace {

using Clock = std::chrono::steady_clock;
using Call = std::function<void()>;

constexpr int kEventsPerRound = 64;
constexpr int kEventsPerAssist = 16;
// So many rounds in vain one after another, then other threads may have the CPU.
constexpr unsigned kVainAssists = 8;
constexpr std::chrono::nanoseconds kSlice{100'000};
constexpr std::chrono::nanoseconds kTimerSlack{1'000};

struct Due {
    Engine::TimerId id;
    Call call;
};

struct Slot {
    std::uint32_t generation = 0;  // tells a late event from one of the descriptor's next owner
    std::shared_ptr<Watcher> watcher;
};

struct State {
    std::mutex running;                  // held by the thread that makes calls; a fork waits for it
    std::atomic<pthread_t> runner{};     // that thread
    std::atomic<bool> assisting{false};  // it does so between two polls
    Relief relief;
    std::atomic<unsigned> vain_assists{0};
    std::mutex mutex;  // everything below; a leaf
    std::atomic<bool> started = false;
    pthread_t thread{};
    Descriptor epoll;
    Descriptor wake;
    Descriptor clock;
    std::vector<Slot> slots;  // by descriptor number
    std::vector<Call> posted;
    std::multimap<Clock::time_point, Due> timers;
    std::unordered_map<Engine::TimerId, std::multimap<Clock::time_point, Due>::iterator> by_id;
    Engine::TimerId last_id = 0;
    State* parents = nullptr;  // in a forked child: has locks held and a thread that is not here
};

thread_local const void* round_taker = nullptr;

// Replaced in a forked child, never destroyed: the thread outlives static destructors.
std::atomic<State*>& current() {
    static std::atomic<State*> instance{new State};
    return instance;
}

State& state() {
    return *current().load(std::memory_order_acquire);
}

epoll_event event_for(std::uint32_t events, int fd, std::uint32_t generation) {
    epoll_event event{};
    event.events = events;
    event.data.u64 =
        (static_cast<std::uint64_t>(generation) << 32) | static_cast<std::uint32_t>(fd);
    return event;
}

void take_posted(State& self) {
    std::uint64_t count = 0;
    static_cast<void>(!read(self.wake.get(), &count, sizeof count));
    std::vector<Call> calls;
    {
        const std::lock_guard guard(self.mutex);
        calls.swap(self.posted);
    }
    for (const Call& call : calls)
        call();
}

// Sets the clock to the earliest timer. Caller holds the mutex.
void arm_clock(State& self) {
    itimerspec when{};
    if (!self.timers.empty()) {
        const auto due = self.timers.begin()->first.time_since_epoch();
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(due);
        when.it_value.tv_sec = seconds.count();
        when.it_value.tv_nsec = std::chrono::nanoseconds(due - seconds).count();
    }
    timerfd_settime(self.clock.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

bool take_due_timer(State& self, Clock::time_point now, Call& out) {
    const std::lock_guard guard(self.mutex);
    const auto first = self.timers.begin();
    if (first == self.timers.end() || first->first > now) {
        arm_clock(self);
        return false;
    }
    out = std::move(first->second.call);
    self.by_id.erase(first->second.id);
    self.timers.erase(first);
    return true;
}

void run_timers(State& self) {
    std::uint64_t count = 0;
    static_cast<void>(!read(self.clock.get(), &count, sizeof count));
    const auto now = Clock::now();
    for (Call call; take_due_timer(self, now, call); call = nullptr)
        call();
}

std::shared_ptr<Watcher> watcher_of(State& self, std::uint64_t data) {
    const auto fd = static_cast<std::uint32_t>(data);
    const std::lock_guard guard(self.mutex);
    if (fd >= self.slots.size() || self.slots[fd].generation != data >> 32)
        return nullptr;
    return self.slots[fd].watcher;
}

void dispatch(State& self, const epoll_event& event) {
    const auto fd = static_cast<int>(event.data.u64 & 0xffffffff);
    if (fd == self.wake.get())
        take_posted(self);
    else if (fd == self.clock.get())
        run_timers(self);
    else if (const auto watcher = watcher_of(self, event.data.u64))
        watcher->ready(event.events);
}

void make_round(State& self, std::span<const epoll_event> events) {
    const std::lock_guard guard(self.running, std::adopt_lock);
    self.runner.store(pthread_self(), std::memory_order_relaxed);
    for (const epoll_event& event : events)
        dispatch(self, event);
    self.runner.store(pthread_t{}, std::memory_order_relaxed);
    self.assisting.store(false, std::memory_order_relaxed);
}

// A round of a thread that leads.
void lead_round(State& self, const void* taker) {
    const Uncancellable guarded;
    self.running.lock();
    std::array<epoll_event, kEventsPerAssist> events;
    const int count = epoll_wait(self.epoll.get(), events.data(), kEventsPerAssist, 0);
    round_taker = taker;
    make_round(self, std::span(events).first(static_cast<std::size_t>(std::max(count, 0))));
    round_taker = nullptr;
}

struct Wait {
    State& state;
    bool leads;
};

// Also when the thread is cancelled.
void end_wait(void* wait) {
    const auto* const self = static_cast<const Wait*>(wait);
    self->state.relief.end_wait(self->leads);
}

// Sleeps until `fd` is readable or, if the thread leads, there is work: 0 or errno.
int sleep_until(int fd, Wait& wait, const void* taker) {
    State& self = wait.state;
    pollfd awaited[] = {{fd, POLLIN, 0}, {self.epoll.get(), POLLIN, 0}};
    int error = 0;
    pthread_cleanup_push(end_wait, &wait);
    error = poll(awaited, wait.leads ? 2 : 1, -1) < 0 ? errno : 0;
    if (error == 0 && wait.leads && awaited[1].revents != 0)
        lead_round(self, taker);
    pthread_cleanup_pop(1);
    return error;
}

// struct sched_attr of the kernel (sched_setattr(2)), which the C library does not declare.
struct SchedulerAttributes {
    std::uint32_t size;
    std::uint32_t policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime;
    std::uint64_t deadline;
    std::uint64_t period;
};

// Programs like to spin on memory that a peer will write. Where every CPU is taken by such a
// thread, this one must not wait for the end of its time slice: a thread that asks for shorter
// slices goes first (Linux 6.12 and later; older kernels need no such hint).
void ask_for_short_slices() {
    SchedulerAttributes attributes{};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
        attributes.policy != SCHED_OTHER)
        return;
    attributes.runtime = kSlice.count();
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void* run(void* argument) {
    State& self = *static_cast<State*>(argument);
    ask_for_short_slices();
    prctl(PR_SET_TIMERSLACK, kTimerSlack.count(), 0L, 0L, 0L);
    std::array<epoll_event, kEventsPerRound> events;
    for (;;) {
        const int count = epoll_wait(self.epoll.get(), events.data(), kEventsPerRound, -1);
        if (self.relief.at_work()) {
            self.relief.stand_by();
            continue;
        }
        self.running.lock();
        make_round(self, std::span(events).first(static_cast<std::size_t>(std::max(count, 0))));
    }
    return nullptr;
}

int start_thread(State& self) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&self.thread, nullptr, run, &self);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error != 0)
        return error;
    pthread_setname_np(self.thread, "rpma-fabric");
    pthread_detach(self.thread);
    return 0;
}

int open_descriptors(State& self) {
    self.epoll = Descriptor::make([] { return epoll_create1(EPOLL_CLOEXEC); });
    self.wake = Descriptor::make([] { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); });
    self.clock = Descriptor::make(
        [] { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); });
    for (const int fd : {self.wake.get(), self.clock.get()}) {
        epoll_event event = event_for(EPOLLIN, fd, 0);
        if (fd < 0 || epoll_ctl(self.epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0)
            return errno;
    }
    return 0;
}

// Caller holds the mutex.
int ensure_started(State& self) {
    if (self.started)
        return 0;
    int error = open_descriptors(self);
    if (error == 0)
        error = start_thread(self);
    if (error == 0) {
        self.started = true;
        return 0;
    }
    self.epoll.reset();
    self.wake.reset();
    self.clock.reset();
    log(LogLevel::Error,
        "cannot start the fabric's thread: %s; check the limits on open files and threads (ulimit "
        "-n, -u)",
        std::strerror(error));
    return error;
}

}  // namespace

void engine_pause() {
    state().running.lock();
    GlobalLock::lock_all();
    state().mutex.lock();
}

void engine_resume() {
    state().mutex.unlock();
    GlobalLock::unlock_all();
    state().running.unlock();
}

void engine_forget() {
    GlobalLock::unlock_all();
    auto* const own = new State;
    own->parents = current().load(std::memory_order_acquire);
    own->last_id = own->parents->last_id;  // a timer of the parent's is none of the child's
    current().store(own, std::memory_order_release);
}

Engine& Engine::instance() {
    static Engine* const engine = new Engine;
    return *engine;
}

int Engine::watch(int fd, std::uint32_t epoll_events, std::shared_ptr<Watcher> watcher) {
    State& self = state();
    const std::lock_guard guard(self.mutex);
    if (fd < 0)
        return EBADF;
    if (const int error = ensure_started(self); error != 0)
        return error;
    const auto index = static_cast<std::size_t>(fd);
    if (self.slots.size() <= index)
        self.slots.resize(index + 64);
    Slot& slot = self.slots[index];
    slot.watcher = std::move(watcher);
    epoll_event event = event_for(epoll_events, fd, ++slot.generation);
    if (epoll_ctl(self.epoll.get(), EPOLL_CTL_ADD, fd, &event) == 0)
        return 0;
    const int error = errno;
    slot.watcher.reset();
    return error;
}

void Engine::change(int fd, std::uint32_t epoll_events) {
    State& self = state();
    const std::lock_guard guard(self.mutex);
    const auto index = static_cast<std::size_t>(fd);
    if (fd < 0 || index >= self.slots.size() || self.slots[index].watcher == nullptr)
        return;
    epoll_event event = event_for(epoll_events, fd, self.slots[index].generation);
    epoll_ctl(self.epoll.get(), EPOLL_CTL_MOD, fd, &event);
}

void Engine::unwatch(int fd) {
    State& self = state();
    std::shared_ptr<Watcher> last;  // destroyed after the lock is released
    const std::lock_guard guard(self.mutex);
    const auto index = static_cast<std::size_t>(fd);
    if (fd < 0 || index >= self.slots.size() || self.slots[index].watcher == nullptr)
        return;
    epoll_ctl(self.epoll.get(), EPOLL_CTL_DEL, fd, nullptr);
    ++self.slots[index].generation;
    last.swap(self.slots[index].watcher);
}

Engine::TimerId Engine::after(std::chrono::nanoseconds delay, Call call) {
    State& self = state();
    const std::lock_guard guard(self.mutex);
    if (ensure_started(self) != 0)
        return 0;
    const TimerId id = ++self.last_id;
    const auto place = self.timers.emplace(Clock::now() + delay, Due{id, std::move(call)});
    self.by_id.emplace(id, place);
    if (place == self.timers.begin())
        arm_clock(self);
    return id;
}

void Engine::cancel(TimerId id) {
    State& self = state();
    Call last;  // destroyed after the lock is released
    const std::lock_guard guard(self.mutex);
    const auto found = self.by_id.find(id);
    if (found == self.by_id.end())
        return;
    last.swap(found->second->second.call);
    self.timers.erase(found->second);
    self.by_id.erase(found);
}

void Timer::set(std::chrono::nanoseconds delay, std::function<void()> call) {
    cancel();
    id_ = Engine::instance().after(delay, std::move(call));
}

void Timer::cancel() {
    if (const auto id = std::exchange(id_, 0); id != 0)
        Engine::instance().cancel(id);
}

void Engine::post(Call call) {
    const Uncancellable guarded;
    State& self = state();
    const std::lock_guard guard(self.mutex);
    if (ensure_started(self) != 0)
        return;
    self.posted.push_back(std::move(call));
    const std::uint64_t one = 1;
    if (self.posted.size() == 1)
        static_cast<void>(!write(self.wake.get(), &one, sizeof one));
}

void Engine::assist() {
    const Uncancellable guarded;
    State& self = state();
    if (!self.started.load(std::memory_order_acquire))
        return;
    self.relief.settle();
    if (!self.running.try_lock())
        return;
    self.relief.assisted();
    std::array<epoll_event, kEventsPerAssist> events;
    const int count = epoll_wait(self.epoll.get(), events.data(), kEventsPerAssist, 0);
    self.assisting.store(true, std::memory_order_relaxed);
    make_round(self, std::span(events).first(static_cast<std::size_t>(std::max(count, 0))));
    if (count > 0)
        self.vain_assists.store(0, std::memory_order_relaxed);
    else if (self.vain_assists.fetch_add(1, std::memory_order_relaxed) >= kVainAssists)
        sched_yield();
}

const void* Engine::taker() {
    return round_taker;
}

int Engine::wait_for(int fd, const void* taker) {
    State& self = state();
    if (!self.started.load(std::memory_order_acquire)) {
        pollfd awaited = {fd, POLLIN, 0};
        return poll(&awaited, 1, -1) < 0 ? errno : 0;
    }
    Wait wait = {self, self.relief.begin_wait()};
    return sleep_until(fd, wait, taker);
}

bool Engine::postpone(std::shared_ptr<Watcher> watcher) {
    State& self = state();
    return self.assisting.load(std::memory_order_relaxed) && here() &&
           self.relief.postpone(std::move(watcher));
}

bool Engine::here() const {
    return pthread_equal(state().runner.load(std::memory_order_relaxed), pthread_self()) != 0;
}

}  // namespace fabric::carrier
