// SPDX-License-Identifier: BSD-3-Clause
// Completion queues.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "array.hpp"
#include "rc/endpoint.hpp"
#include "verbs/birth.hpp"
#include "verbs/channel.hpp"
#include "verbs/context.hpp"

namespace fabric::verbs {

// One completion. `source` is alive as long as the entry is queued: a queue pair takes its entries
// out before it goes.
struct CqEntry {
    ibv_wc wc;
    rc::Endpoint* source;
    std::uint32_t send_slots;  // given back to source when the program takes the entry
};

// Thread-safe. Its lock comes after those of queue pairs and shared receive queues; under it only
// leaves are taken.
class Cq {
public:
    struct Settings {
        std::uint32_t entries;
        void* user_context;
        ibv_comp_channel* channel;  // may be nullptr
        bool timestamps;            // time stamps are wanted
    };

    // Use valid() after it: there may be no memory for so many entries.
    Cq(ibv_context* context, const Settings& settings);
    ~Cq();
    Cq(const Cq&) = delete;
    Cq& operator=(const Cq&) = delete;
    bool valid() const { return ring_ != nullptr; }

    static Cq& of(ibv_cq* shown) { return *reinterpret_cast<Shown*>(shown)->self; }
    static Cq& of(ibv_cq_ex* shown) { return *reinterpret_cast<Shown*>(shown)->self; }
    ibv_cq* handle() { return reinterpret_cast<ibv_cq*>(&shown_.cq); }
    ibv_cq_ex* extended_handle() { return &shown_.cq; }

    // False: the queue is full, the completion is lost, and the queue is in error: the program is
    // told by IBV_EVENT_CQ_ERR and by poll() failing once the queue is empty.
    bool push(const CqEntry& entry, bool solicited);
    // Up to `room` completions; -1 if the queue is empty and in error.
    int poll(int room, ibv_wc* out);
    void request_notification(bool solicited_only);
    // Takes out what this queue pair has in it.
    void purge(const rc::Endpoint* source);
    // Takes out what it has of its send side, from its first read or flush on.
    void recall(const rc::Endpoint* source, std::deque<rc::Completion>& out);
    int resize(std::uint32_t entries);  // 0, EINVAL (more are queued), ENOMEM

    // One completion at a time, for ibv_cq_ex. Between a successful begin_poll() and end_poll() the
    // calling thread holds the poll lock.
    int begin_poll();  // 0, ENOENT, EIO: in error
    int next_poll();
    void end_poll() { poll_mutex_.unlock(); }
    const ibv_wc& current() const { return current_; }
    std::uint64_t current_time() const { return current_time_; }

    void add_user() { users_.fetch_add(1); }
    void drop_user() { users_.fetch_sub(1); }
    bool in_use() const { return users_.load() != 0; }

    void count_event() { ++events_taken_; }  // under the channel's lock
    // Forgets events that nobody took and waits until those that were taken are acknowledged.
    void settle_events();

    const Birth birth{};  // the process it was made in

private:
    struct Shown {
        ibv_cq_ex cq;  // first; struct ibv_cq is its beginning
        Cq* self;
    };
    enum class Armed : std::uint8_t { No, Solicited, Next };

    int take(int room, ibv_wc* out, std::uint64_t* time);
    int take_current();
    void notify(const CqEntry& entry, bool solicited);
    bool overrun();
    void lend_thread();
    std::uint32_t after(std::uint32_t index, std::uint32_t steps) const;
    void copy_to(CqEntry* ring, std::uint64_t* times);

    Shown shown_{};
    std::mutex mutex_;
    Array<CqEntry> ring_;
    Array<std::uint64_t> times_;  // nanoseconds, beside the ring; only if wanted
    std::uint32_t capacity_ = 0;
    std::uint32_t first_ = 0;
    std::atomic<std::uint32_t> count_{0};  // changed under the lock
    std::atomic<bool> overrun_{false};
    std::atomic<unsigned> empty_polls_{0};
    std::atomic<std::int64_t> empty_since_{0};  // nanoseconds
    std::atomic<bool> spinning_{false};         // a thread polls it all the time
    Armed armed_ = Armed::No;
    const bool wants_times_;
    std::atomic<int> users_{0};

    std::mutex poll_mutex_;
    ibv_wc current_{};
    std::uint64_t current_time_ = 0;

    std::uint32_t events_taken_ = 0;        // under the channel's lock
    std::uint32_t async_events_taken_ = 0;  // under the lock of the context's events
};

}  // namespace fabric::verbs
