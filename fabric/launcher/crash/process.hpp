// SPDX-License-Identifier: BSD-3-Clause
// A shell command as a process group of its own.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace launcher::crash {

using Environment = std::vector<std::pair<std::string, std::string>>;

class Process {
public:
    // stdout and stderr go to files (both to `output` if `errors` is empty).
    Process(const std::string& command, const Environment& environment, const std::string& output,
            const std::string& errors);
    ~Process();  // kills the group
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    // The status of waitpid(2), or nothing if it has not ended in time.
    std::optional<int> wait(std::chrono::milliseconds time);
    bool running() { return !wait(std::chrono::milliseconds(0)); }
    void kill_group();

private:
    void reap_group() const;

    int pid_ = -1;
    std::optional<int> status_;
};

// What this process starts, and what that starts in turn, does not outlive it: not when the user
// interrupts, and not as a zombie.
void own_children();

// The user wants it to end: nothing that was started runs any more.
bool interrupted();

// Ends what has left the groups of its command, and then this process, if the user wants that.
void end_children();

}  // namespace launcher::crash
