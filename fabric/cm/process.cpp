// SPDX-License-Identifier: BSD-3-Clause
#include "cm/process.hpp"

#include <pthread.h>

#include <atomic>

namespace fabric::cm {
namespace {

std::atomic<std::uint32_t> generation{0};

void in_child() {
    generation.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint32_t process_generation() {
    static const int watching = pthread_atfork(nullptr, nullptr, in_child);
    static_cast<void>(watching);
    return generation.load(std::memory_order_relaxed);
}

}  // namespace fabric::cm
