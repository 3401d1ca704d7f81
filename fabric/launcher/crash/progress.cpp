// SPDX-License-Identifier: BSD-3-Clause
#include "crash/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace launcher::crash {
namespace {

constexpr auto kOnTerminal = std::chrono::milliseconds(100);
constexpr auto kElsewhere = std::chrono::seconds(10);

}  // namespace

Progress::Progress(std::size_t total) : total_(total), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::step() {
    const std::lock_guard guard(mutex_);
    ++done_;
    const auto now = Clock::now();
    if (now - shown_ < (terminal_ ? Clock::duration(kOnTerminal) : Clock::duration(kElsewhere))) {
        return;
    }
    shown_ = now;
    const double passed = std::chrono::duration<double>(now - begin_).count();
    const double left = passed / static_cast<double>(done_) * static_cast<double>(total_ - done_);
    fmt::print(stderr, "{}{} of {} cases, about {:.0f} s left{}", terminal_ ? "\r" : "", done_,
               total_, left, terminal_ ? "   " : "\n");
    std::fflush(stderr);
}

void Progress::finish() {
    if (terminal_ && done_ != 0) {
        fmt::print(stderr, "\n");
    }
}

}  // namespace launcher::crash
