// SPDX-License-Identifier: BSD-3-Clause
// One started program with its own process group, its output read through a pipe, its end seen
// through a pidfd.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "driver/unique_fd.hpp"

namespace driver {

struct Command {
    std::string name;  // in front of each line of output
    std::vector<std::string> words;
    std::vector<std::string> environment;  // NAME=VALUE, added to the driver's own
    std::vector<int> descriptors;          // to be left open in the program
    std::string directory;                 // where it runs
};

// How a program ended.
struct Ending {
    int status;  // as of waitpid
    bool exited_with(int code) const;
    bool killed_by(int signal) const;
    std::string text() const;
};

class Process {
public:
    explicit Process(const Command& command);
    ~Process();  // kills the group if anything of it still runs
    Process(Process&&) = default;
    Process& operator=(Process&&) = delete;
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    const std::string& name() const { return name_; }
    pid_t pid() const { return pid_; }
    const std::string& output() const { return output_; }
    const std::optional<Ending>& ending() const { return ending_; }

    int output_fd() const { return output_fd_.get(); }  // -1 after its end
    int exit_fd() const {
        return exit_fd_.get();
    }                    // readable when the program has ended; -1 when collected
    void read_output();  // prints and keeps what is there
    void collect();      // after exit_fd() became readable
    void kill_group(int signal) const;
    bool group_is_empty() const;
    void print_state() const;  // threads and what they wait for, for a program that hangs

private:
    void print_lines(bool all);

    std::string name_;
    pid_t pid_ = -1;
    UniqueFd output_fd_;
    UniqueFd exit_fd_;
    std::string output_;
    std::size_t printed_ = 0;
    std::optional<Ending> ending_;
};

}  // namespace driver
