// SPDX-License-Identifier: BSD-3-Clause
#include "stop_signal.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>

#include "clock.hpp"

namespace perf {
namespace {

// One request to end often comes as two signals: timeout(1) sends its own to its child and to its
// group. Nobody asks again so soon.
constexpr std::uint64_t kSameRequestNs = 500'000'000;

// The signal may come to any thread.
std::atomic<int> received{0};
std::atomic<std::uint64_t> received_ns{0};
static_assert(std::atomic<int>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

void on_signal(int signal) {
    const int interrupted = errno;
    std::uint64_t first = 0;
    if (received_ns.compare_exchange_strong(first, now_ns())) {
        received = signal;
    } else if (now_ns() - first > kSameRequestNs) {
        (void)std::signal(signal, SIG_DFL);
        (void)std::raise(signal);
    }
    errno = interrupted;
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
