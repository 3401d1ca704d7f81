// SPDX-License-Identifier: BSD-3-Clause
// Acknowledging events. An object can be destroyed only when every event of it that was taken has
// been acknowledged; the counters of acknowledged ones live in the structures that verbs.h shows to
// programs.
#pragma once

#include <pthread.h>

#include <cstdint>

namespace fabric::verbs {

inline void acknowledge(pthread_mutex_t* mutex, pthread_cond_t* cond, std::uint32_t* completed,
                        unsigned events) {
    pthread_mutex_lock(mutex);
    *completed += events;
    pthread_cond_broadcast(cond);
    pthread_mutex_unlock(mutex);
}

inline void await_acknowledged(pthread_mutex_t* mutex, pthread_cond_t* cond,
                               const std::uint32_t* completed, std::uint32_t taken) {
    pthread_mutex_lock(mutex);
    while (*completed != taken)
        pthread_cond_wait(cond, mutex);
    pthread_mutex_unlock(mutex);
}

}  // namespace fabric::verbs
