// SPDX-License-Identifier: BSD-3-Clause
#include "cm/event.hpp"

#include <algorithm>

#include "cm/api.hpp"
#include "cm/id.hpp"

namespace fabric::cm {

Event::Event(rdma_cm_event_type type, int outcome) : rdma_cm_event{} {
    event = type;
    status = outcome;
}

void Event::set_private_data(std::span<const std::byte> data) {
    const std::size_t size = std::min(data.size(), data_.size() - 1);
    std::copy_n(data.begin(), size, data_.begin());
    param.conn.private_data = data_.data();
    param.conn.private_data_len = static_cast<std::uint8_t>(size);
}

void Outstanding::add() {
    const std::lock_guard guard(lock_);
    ++count_;
}

void Outstanding::acknowledge() {
    const std::lock_guard guard(lock_);
    --count_;
    changed_.notify_all();
}

void Outstanding::wait_for_none() {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [this] { return count_ == 0; });
}

const char* event_name(rdma_cm_event_type type) {
    static constexpr std::array kNames = {
        "ADDR_RESOLVED",   "ADDR_ERROR",       "ROUTE_RESOLVED", "ROUTE_ERROR",
        "CONNECT_REQUEST", "CONNECT_RESPONSE", "CONNECT_ERROR",  "UNREACHABLE",
        "REJECTED",        "ESTABLISHED",      "DISCONNECTED",   "DEVICE_REMOVAL",
        "MULTICAST_JOIN",  "MULTICAST_ERROR",  "ADDR_CHANGE",    "TIMEWAIT_EXIT",
    };
    return kNames[std::min<std::size_t>(type, kNames.size() - 1)];
}

}  // namespace fabric::cm

using namespace fabric::cm;

RDMACM_API int rdma_ack_cm_event(rdma_cm_event* event) {
    if (event == nullptr)
        return result(EINVAL);
    const std::unique_ptr<Event> owned(static_cast<Event*>(event));
    owned->counted->outstanding.acknowledge();
    return 0;
}
