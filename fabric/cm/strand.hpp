// SPDX-License-Identifier: BSD-3-Clause
// Work on one id, one piece at a time, whichever thread it comes from.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace fabric::cm {

// A program's thread takes the turn with enter() and waits if another has it. What links and timers
// report is queued by add() and run on the engine's thread, which never waits for a turn: if a
// program's thread has it, that thread sees to it in leave() that the queue is run afterwards.
// Whoever has the turn holds no lock, so it may call links and queue pairs.
class Strand {
public:
    void enter();
    // True: work is waiting, the caller must have run() called on the engine's thread.
    [[nodiscard]] bool leave();
    // True as above.
    [[nodiscard]] bool add(std::function<void()> work);
    void run();

private:
    std::mutex lock_;
    std::condition_variable free_;
    std::deque<std::function<void()>> work_;
    bool taken_ = false;
    bool scheduled_ = false;
};

}  // namespace fabric::cm
