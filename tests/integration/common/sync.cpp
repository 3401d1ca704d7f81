// SPDX-License-Identifier: BSD-3-Clause
#include "common/sync.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "common/device_accesses.hpp"

namespace it {
namespace {

constexpr std::size_t kLargest = 65536;

// One message, or an empty vector when the other role has ended.
std::vector<std::byte> next_message(int fd, std::string_view tag, const Deadline& deadline) {
    if (!wait_readable(fd, deadline)) {
        FAIL("the other role did not say '%s' in time", std::string(tag).c_str());
    }
    std::vector<std::byte> message(kLargest);
    const ssize_t size = ::recv(fd, message.data(), message.size(), 0);
    message.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return message;
}

}  // namespace

void Sync::send(std::string_view tag, std::span<const std::byte> payload) {
    std::vector<std::byte> message(tag.size() + 1 + payload.size());
    CHECK(message.size() <= kLargest);
    std::memcpy(message.data(), tag.data(), tag.size());
    std::copy(payload.begin(), payload.end(),
              message.begin() + static_cast<std::ptrdiff_t>(tag.size()) + 1);
    order_device_accesses();
    if (::send(fd_, message.data(), message.size(), MSG_NOSIGNAL) < 0) {
        FAIL("the other role has ended; it can not be told '%s'", std::string(tag).c_str());
    }
}

std::vector<std::byte> Sync::receive(std::string_view tag, const Deadline& deadline) {
    const std::vector<std::byte> message = next_message(fd_, tag, deadline);
    if (message.empty()) {
        FAIL("the other role ended before it said '%s'", std::string(tag).c_str());
    }
    const auto end = std::find(message.begin(), message.end(), std::byte{0});
    const std::string_view said(reinterpret_cast<const char*>(message.data()),
                                static_cast<std::size_t>(end - message.begin()));
    if (said != tag) {
        FAIL("the other role said '%s' instead of '%s'", std::string(said).c_str(),
             std::string(tag).c_str());
    }
    order_device_accesses();
    return {end + 1, message.end()};
}

void Sync::await_end(const Deadline& deadline) {
    const std::vector<std::byte> message = next_message(fd_, "end", deadline);
    CHECK(message.empty());
}

}  // namespace it
