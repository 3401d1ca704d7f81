// SPDX-License-Identifier: BSD-3-Clause
// How the two roles of a scenario agree on steps without using RDMA: a socket pair that the driver
// made. Every message carries a tag; a message with another tag than the one awaited is a failure
// of the scenario.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/check.hpp"
#include "common/deadline.hpp"

namespace it {

class Sync {
public:
    explicit Sync(int fd) : fd_(fd) {}

    void signal(std::string_view tag) { send(tag, {}); }
    void await(std::string_view tag, const Deadline& deadline = Deadline()) {
        receive(tag, deadline);
    }

    void send(std::string_view tag, std::span<const std::byte> payload);
    std::vector<std::byte> receive(std::string_view tag, const Deadline& deadline = Deadline());

    // Waits until the other role's process is gone.
    void await_end(const Deadline& deadline = Deadline());

    template <class T>
    void give(std::string_view tag, const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        send(tag, std::as_bytes(std::span(&value, 1)));
    }

    template <class T>
    T take(std::string_view tag) {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::vector<std::byte> payload = receive(tag);
        CHECK_EQ(payload.size(), sizeof(T));
        T value;
        std::memcpy(&value, payload.data(), sizeof value);
        return value;
    }

    int fd() const { return fd_; }

private:
    int fd_;
};

}  // namespace it
