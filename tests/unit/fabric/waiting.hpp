// SPDX-License-Identifier: BSD-3-Clause
// Waiting for something that another thread does; the bound is only against hanging.
#pragma once

#include <chrono>
#include <thread>

template <typename Condition>
bool eventually(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}
