// SPDX-License-Identifier: BSD-3-Clause
#include "stop_signal.hpp"

#include <atomic>
#include <csignal>

namespace perf {
namespace {

// The signal may come to any thread.
std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int signal) {
    if (received != 0) {
        (void)std::signal(signal, SIG_DFL);
        (void)std::raise(signal);
    }
    received = signal;
}

}  // namespace

void catch_stop_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    (void)sigaction(SIGINT, &action, nullptr);
    (void)sigaction(SIGTERM, &action, nullptr);
    // What these tell is told by the call that fails as well.
    (void)std::signal(SIGPIPE, SIG_IGN);
    (void)std::signal(SIGXFSZ, SIG_IGN);
}

bool stop_requested() {
    return received != 0;
}

int stop_signal() {
    return received;
}

}  // namespace perf
