// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/cq.hpp"

#include <time.h>

#include <algorithm>
#include <cerrno>

#include "carrier/engine.hpp"
#include "log.hpp"
#include "rc/native.hpp"
#include "verbs/object_events.hpp"

namespace fabric::verbs {
namespace {

// Polling in vain so often within such a time (nanoseconds) is spinning.
constexpr unsigned kEmptyPolls = 16;
constexpr std::int64_t kEmptyPollsTime = 50'000;

std::uint64_t nanoseconds_now() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

Cq::Cq(ibv_context* context, const Settings& settings)
    : ring_(make_array<CqEntry>(settings.entries)),
      times_(settings.timestamps ? make_array<std::uint64_t>(settings.entries) : nullptr),
      capacity_(settings.entries),
      wants_times_(settings.timestamps) {
    static std::atomic<std::uint32_t> handles{0};
    shown_.self = this;
    ibv_cq_ex& cq = shown_.cq;
    cq.context = context;
    cq.channel = settings.channel;
    cq.cq_context = settings.user_context;
    cq.handle = ++handles;
    cq.cqe = static_cast<int>(settings.entries);
    pthread_mutex_init(&cq.mutex, nullptr);
    pthread_cond_init(&cq.cond, nullptr);
    if (cq.channel != nullptr)
        Channel::of(cq.channel).add_user();
    Context::of(context).add_user();
    if (wants_times_ && times_ == nullptr)
        ring_.reset();
}

Cq::~Cq() {
    if (shown_.cq.channel != nullptr)
        Channel::of(shown_.cq.channel).drop_user();
    Context::of(shown_.cq.context).drop_user();
    pthread_mutex_destroy(&shown_.cq.mutex);
    pthread_cond_destroy(&shown_.cq.cond);
}

std::uint32_t Cq::after(std::uint32_t index, std::uint32_t steps) const {
    const std::uint32_t next = index + steps;
    return next < capacity_ ? next : next - capacity_;
}

bool Cq::push(const CqEntry& entry, bool solicited) {
    const std::lock_guard guard(mutex_);
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    if (count == capacity_)
        return overrun();
    const std::uint32_t place = after(first_, count);
    ring_[place] = entry;
    if (times_ != nullptr)
        times_[place] = nanoseconds_now();
    count_.store(count + 1, std::memory_order_release);
    notify(entry, solicited);
    return true;
}

// Caller holds the lock.
bool Cq::overrun() {
    if (overrun_.exchange(true))
        return false;
    log(LogLevel::Error,
        "a completion queue of %u entries is full and completions are lost; make it larger or poll "
        "it in time",
        capacity_);
    ibv_async_event event{};
    event.event_type = IBV_EVENT_CQ_ERR;
    event.element.cq = handle();
    Context::of(shown_.cq.context).async.report(event, &async_events_taken_);
    return false;
}

// One event for one request. An error counts as solicited (IBTA vol. 1, 11.4.2.2).
void Cq::notify(const CqEntry& entry, bool solicited) {
    const bool wanted = armed_ == Armed::Next || (armed_ == Armed::Solicited &&
                                                  (solicited || entry.wc.status != IBV_WC_SUCCESS));
    if (!wanted)
        return;
    armed_ = Armed::No;
    if (shown_.cq.channel != nullptr)
        Channel::of(shown_.cq.channel).events.push(this);
}

// A thread that polls an empty queue again and again keeps a CPU from the engine's thread, which
// would bring what it waits for. So it does the engine's work itself. One that looks now and then
// is left alone.
void Cq::lend_thread() {
    if (empty_polls_.fetch_add(1, std::memory_order_relaxed) % kEmptyPolls == 0) {
        const auto now = static_cast<std::int64_t>(nanoseconds_now());
        const auto since = empty_since_.exchange(now, std::memory_order_relaxed);
        spinning_.store(now - since < kEmptyPollsTime, std::memory_order_relaxed);
    }
    if (spinning_.load(std::memory_order_relaxed))
        carrier::Engine::instance().assist();
}

int Cq::poll(int room, ibv_wc* out) {
    return take(room, out, nullptr);
}

// `time`, if it is wanted, becomes the first one's.
int Cq::take(int room, ibv_wc* out, std::uint64_t* time) {
    if (count_.load(std::memory_order_acquire) == 0)
        lend_thread();
    if (count_.load(std::memory_order_acquire) == 0)
        return overrun_.load(std::memory_order_relaxed) ? -1 : 0;
    const std::lock_guard guard(mutex_);
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    const auto taken = std::min(count, static_cast<std::uint32_t>(std::max(room, 0)));
    if (time != nullptr && taken > 0)
        *time = times_[first_];
    for (std::uint32_t i = 0; i < taken; ++i) {
        const CqEntry& entry = ring_[first_];
        out[i] = entry.wc;
        if (entry.send_slots != 0)
            entry.source->release_send_slots(entry.send_slots);
        first_ = after(first_, 1);
    }
    count_.store(count - taken, std::memory_order_relaxed);
    empty_polls_.store(1, std::memory_order_relaxed);
    return static_cast<int>(taken);
}

int Cq::begin_poll() {
    poll_mutex_.lock();
    const int error = take_current();
    if (error != 0)
        poll_mutex_.unlock();
    return error;
}

int Cq::next_poll() {
    return take_current();
}

int Cq::take_current() {
    const int taken = take(1, &current_, wants_times_ ? &current_time_ : nullptr);
    if (taken < 0)
        return EIO;
    if (taken == 0)
        return ENOENT;
    shown_.cq.status = current_.status;
    shown_.cq.wr_id = current_.wr_id;
    return 0;
}

void Cq::request_notification(bool solicited_only) {
    const std::lock_guard guard(mutex_);
    armed_ = std::max(armed_, solicited_only ? Armed::Solicited : Armed::Next);
}

void Cq::purge(const rc::Endpoint* source) {
    const std::lock_guard guard(mutex_);
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t from = after(first_, i);
        if (ring_[from].source == source)
            continue;
        const std::uint32_t to = after(first_, kept++);
        ring_[to] = ring_[from];
        if (times_ != nullptr)
            times_[to] = times_[from];
    }
    count_.store(kept, std::memory_order_relaxed);
}

void Cq::recall(const rc::Endpoint* source, std::deque<rc::Completion>& out) {
    const std::lock_guard guard(mutex_);
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t from = after(first_, i);
        const CqEntry& entry = ring_[from];
        const bool of_sends = entry.source == source && (entry.wc.opcode & IBV_WC_RECV) == 0;
        const bool flushes = entry.wc.opcode == IBV_WC_RDMA_READ || entry.wc.opcode == rc::kWcFlush;
        if (of_sends && (flushes || !out.empty())) {
            out.push_back({entry.wc, false, true, entry.send_slots});
            continue;
        }
        const std::uint32_t to = after(first_, kept++);
        ring_[to] = ring_[from];
        if (times_ != nullptr)
            times_[to] = times_[from];
    }
    count_.store(kept, std::memory_order_relaxed);
}

void Cq::copy_to(CqEntry* ring, std::uint64_t* times) {
    for (std::uint32_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) {
        const std::uint32_t from = after(first_, i);
        ring[i] = ring_[from];
        if (times != nullptr)
            times[i] = times_[from];
    }
}

int Cq::resize(std::uint32_t entries) {
    auto ring = make_array<CqEntry>(entries);
    auto times = wants_times_ ? make_array<std::uint64_t>(entries) : nullptr;
    if (ring == nullptr || (wants_times_ && times == nullptr))
        return ENOMEM;
    const std::lock_guard guard(mutex_);
    if (count_.load(std::memory_order_relaxed) > entries)
        return EINVAL;
    copy_to(ring.get(), times.get());
    ring_.swap(ring);
    times_.swap(times);
    first_ = 0;
    capacity_ = entries;
    shown_.cq.cqe = static_cast<int>(entries);
    return 0;
}

void Cq::settle_events() {
    ibv_cq_ex& cq = shown_.cq;
    std::uint32_t taken = 0;
    if (cq.channel != nullptr)
        Channel::of(cq.channel)
            .events.remove([this](const Cq* queued) { return queued == this; },
                           [this, &taken] { taken = events_taken_; });
    await_acknowledged(&cq.mutex, &cq.cond, &cq.comp_events_completed, taken);
    await_acknowledged(&cq.mutex, &cq.cond, &cq.async_events_completed,
                       Context::of(cq.context).async.forget(&async_events_taken_));
}

}  // namespace fabric::verbs
