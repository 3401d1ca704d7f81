// SPDX-License-Identifier: BSD-3-Clause
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "units.hpp"

namespace perf {

Progress::Progress(std::size_t steps) : on_(isatty(STDERR_FILENO) != 0), steps_(steps) {}

void Progress::next(const Case& point) {
    step_++;
    point_ = point;
    last_operations_ = 0;
    last_seconds_ = 0;
}

void Progress::update(std::uint64_t operations, double seconds) {
    if (!on_ || seconds <= last_seconds_) {
        return;
    }
    const double rate =
        static_cast<double>(operations - last_operations_) / (seconds - last_seconds_);
    last_operations_ = operations;
    last_seconds_ = seconds;
    fmt::print(stderr, "\r\033[K[{}/{}] {}: {}op/s, {} MB/s", step_, steps_, describe(point_),
               format_rate(rate), format_bandwidth(rate * static_cast<double>(point_.size)));
    (void)std::fflush(stderr);
    drawn_ = true;
}

void Progress::clear() {
    if (drawn_) {
        fmt::print(stderr, "\r\033[K");
        (void)std::fflush(stderr);
        drawn_ = false;
    }
}

}  // namespace perf
