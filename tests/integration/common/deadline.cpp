// SPDX-License-Identifier: BSD-3-Clause
#include "common/deadline.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "common/check.hpp"

namespace it {

int time_scale() {
    const char* text = std::getenv("RPMA_TEST_TIME_SCALE");
    return text == nullptr ? 1 : std::max(1, static_cast<int>(std::strtol(text, nullptr, 10)));
}

Deadline::Deadline(std::chrono::milliseconds limit)
    : end_(std::chrono::steady_clock::now() + limit * time_scale()) {}

int Deadline::remaining_ms() const {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp<long long>(left.count(), 0, 3'600'000));
}

bool wait_readable(int fd, const Deadline& deadline) {
    while (true) {
        pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
        const int ready = ::poll(&entry, 1, deadline.remaining_ms());
        if (ready > 0) {
            CHECK((entry.revents & POLLNVAL) == 0);
            return true;
        }
        if (ready == 0) {
            return false;
        }
        CHECK(errno == EINTR);
    }
}

void sleep_ms(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

}  // namespace it
