// SPDX-License-Identifier: BSD-3-Clause
#include "private_data.hpp"

#include <cstring>

namespace rpma {

void PrivateData::store(const void* data, std::uint8_t length) {
    int expected = empty;
    if (data == nullptr || length == 0 ||
        !state_.compare_exchange_strong(expected, being_written, std::memory_order_acquire)) {
        return;
    }
    std::memcpy(bytes_, data, length);
    length_ = length;
    state_.store(complete, std::memory_order_release);
}

rpma_conn_private_data PrivateData::load() const {
    if (state_.load(std::memory_order_acquire) != complete) {
        return {nullptr, 0};
    }
    // The C API hands the bytes out as writable.
    return {const_cast<unsigned char*>(bytes_), length_};
}

}  // namespace rpma
