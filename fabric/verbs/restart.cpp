// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/restart.hpp"

#include <signal.h>

namespace fabric::verbs {
namespace {

// Raised by what the thread does itself, so never while it waits; language runtimes and sanitizers
// like to handle these.
bool is_own_fault(int signal) {
    switch (signal) {
        case SIGABRT:
        case SIGBUS:
        case SIGFPE:
        case SIGILL:
        case SIGSEGV:
        case SIGSYS:
        case SIGTRAP:
            return true;
        default:
            return false;
    }
}

}  // namespace

bool restarts_after_signal() {
    bool any = false;
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
        struct sigaction action {};
        if (is_own_fault(signal) || sigaction(signal, nullptr, &action) != 0 ||
            action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
            continue;
        if ((action.sa_flags & SA_RESTART) == 0)
            return false;
        any = true;
    }
    return any;
}

}  // namespace fabric::verbs
