// SPDX-License-Identifier: BSD-3-Clause
// Upper bounds against hanging. They say nothing about speed, so they are generous and grow under
// slow tools.
#pragma once

#include <chrono>

namespace it {

// How much slower this run may be: RPMA_TEST_TIME_SCALE, a whole number, 1 if unset. Valgrind and
// the sanitizers set it.
int time_scale();

class Deadline {
public:
    explicit Deadline(std::chrono::milliseconds limit = std::chrono::seconds(20));
    // Milliseconds left, 0 when it has passed; fits the timeout of poll(2).
    int remaining_ms() const;
    bool passed() const { return remaining_ms() == 0; }

private:
    std::chrono::steady_clock::time_point end_;
};

// Waits until the descriptor is readable (or its other end is gone). False: the deadline passed
// first.
bool wait_readable(int fd, const Deadline& deadline);

void sleep_ms(int milliseconds);

}  // namespace it
