// SPDX-License-Identifier: BSD-3-Clause
// Programs cancel threads (pthread_cancel(3)) that post and poll, since with an adapter these are
// no cancellation points. Here they make system calls, some with locks held.
#pragma once

#include <pthread.h>

namespace fabric {

// As long as it lives, the calling thread cannot be cancelled. Costs no system call.
class Uncancellable {
public:
    Uncancellable() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~Uncancellable() { pthread_setcancelstate(before_, nullptr); }
    Uncancellable(const Uncancellable&) = delete;
    Uncancellable& operator=(const Uncancellable&) = delete;

private:
    int before_ = 0;
};

}  // namespace fabric
