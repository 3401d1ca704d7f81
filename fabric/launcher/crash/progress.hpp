// SPDX-License-Identifier: BSD-3-Clause
// How far it is, and how long it will take: on a terminal one line that changes, elsewhere a line
// now and then.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>

namespace launcher::crash {

class Progress {
public:
    explicit Progress(std::size_t total);
    void step();    // one more is done; thread-safe
    void finish();  // goes on to a new line

private:
    using Clock = std::chrono::steady_clock;
    const std::size_t total_;
    const bool terminal_;
    const Clock::time_point begin_ = Clock::now();
    std::mutex mutex_;
    Clock::time_point shown_ = begin_;
    std::size_t done_ = 0;
};

}  // namespace launcher::crash
