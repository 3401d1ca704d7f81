// SPDX-License-Identifier: BSD-3-Clause
// Events as programs get them, and the count of those that a program still holds.
#pragma once

#include <rdma/rdma_cma.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

namespace fabric::cm {

struct Id;

struct Event final : rdma_cm_event {
    Event(rdma_cm_event_type type, int status);
    // Copies the private data into the event and points to it.
    void set_private_data(std::span<const std::byte> data);

    std::shared_ptr<Id> counted;  // whose rdma_destroy_id waits for the acknowledgement
    std::shared_ptr<Id> fresh;    // connect request: the new id, until the event is handed out

private:
    std::array<std::byte, 256> data_{};
};

// Events handed out and not acknowledged yet. Thread-safe; its lock is a leaf.
class Outstanding {
public:
    void add();
    void acknowledge();
    void wait_for_none();

private:
    std::mutex lock_;
    std::condition_variable changed_;
    unsigned count_ = 0;
};

const char* event_name(rdma_cm_event_type type);

}  // namespace fabric::cm
