// SPDX-License-Identifier: BSD-3-Clause
// The device as the connection manager sees it.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <mutex>

namespace fabric::cm {

// Made on first use, never destroyed. Thread-safe.
class Device {
public:
    static const Device* get();  // nullptr if the device cannot be opened

    ibv_context* context() const { return context_; }
    // The protection domain of ids that were not given one; nullptr if it cannot be allocated.
    ibv_pd* default_pd() const;
    std::uint8_t max_responder_resources() const { return max_responder_resources_; }
    std::uint8_t max_initiator_depth() const { return max_initiator_depth_; }
    std::uint64_t guid() const { return guid_; }  // host order
    // Index of a GID in the port's table; 0 if it is not there.
    std::uint8_t gid_index(const ibv_gid& gid) const;
    // Largest packet this process sends and takes, as a path MTU code (128 << n bytes).
    static std::uint8_t mtu_code();

private:
    explicit Device(ibv_context* context);

    ibv_context* context_;
    std::uint8_t max_responder_resources_ = 1;
    std::uint8_t max_initiator_depth_ = 1;
    std::uint64_t guid_ = 0;
    int gid_count_ = 0;
    mutable std::mutex lock_;
    mutable ibv_pd* pd_ = nullptr;
};

}  // namespace fabric::cm
