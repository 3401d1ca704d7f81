// SPDX-License-Identifier: BSD-3-Clause
// Private data received while connecting: stored once, then read by any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "public.hpp"

namespace rpma {

/// The length is a uint8_t, so all of it has room here and receiving it cannot run out of memory.
class PrivateData {
public:
    /// Keeps a copy; only the first data count, empty ones do not.
    void store(const void* data, std::uint8_t length);
    /// {NULL, 0} if there are none. The bytes stay where they are as long as this object lives.
    [[nodiscard]] rpma_conn_private_data load() const;

private:
    enum State { empty, being_written, complete };

    alignas(16) unsigned char bytes_[256] = {};
    std::uint8_t length_ = 0;
    std::atomic<int> state_{empty};
};

}  // namespace rpma
