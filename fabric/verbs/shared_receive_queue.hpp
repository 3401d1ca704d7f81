// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queues.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "array.hpp"
#include "rc/endpoint.hpp"
#include "verbs/birth.hpp"
#include "verbs/context.hpp"
#include "verbs/pd.hpp"

namespace fabric::verbs {

// Thread-safe. Its lock comes after those of queue pairs.
class SharedReceiveQueue final : public rc::ReceiveQueue {
public:
    // Use valid() after it.
    SharedReceiveQueue(ibv_pd* pd, void* user_context, const ibv_srq_attr& attr);
    bool valid() const { return items_ != nullptr && sges_ != nullptr; }
    ~SharedReceiveQueue() override;
    SharedReceiveQueue(const SharedReceiveQueue&) = delete;
    SharedReceiveQueue& operator=(const SharedReceiveQueue&) = delete;

    static SharedReceiveQueue& of(ibv_srq* shown) { return *reinterpret_cast<Shown*>(shown)->self; }
    ibv_srq* handle() { return &shown_.srq; }

    int post(const ibv_recv_wr& request);  // 0, ENOMEM full, EINVAL too many SGEs
    bool pop(rc::ReceiveRequest& out) override;
    // The limit event is reported once when fewer than `limit` requests are left, 0: never.
    void set_limit(std::uint32_t limit);
    ibv_srq_attr attributes();

    void add_user() { users_.fetch_add(1); }
    void drop_user() { users_.fetch_sub(1); }
    bool in_use() const { return users_.load() != 0; }
    void settle_events();

    const Birth birth{};  // the process it was made in

private:
    struct Shown {
        ibv_srq srq;  // first
        SharedReceiveQueue* self;
    };
    struct Item {
        std::uint64_t wr_id;
        std::uint32_t num_sge;
    };

    void check_limit();

    Shown shown_{};
    const PdUse pd_use_;
    std::mutex mutex_;
    const std::uint32_t capacity_;
    const std::uint32_t max_sge_;
    Array<Item> items_;
    Array<ibv_sge> sges_;  // max_sge_ for each item
    std::uint32_t first_ = 0;
    std::uint32_t count_ = 0;
    std::uint32_t limit_ = 0;
    std::atomic<int> users_{0};
    std::uint32_t events_taken_ = 0;  // under the lock of the context's events
};

}  // namespace fabric::verbs
