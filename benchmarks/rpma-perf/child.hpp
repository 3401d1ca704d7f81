// SPDX-License-Identifier: BSD-3-Clause
// A process that this one starts and ends.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "unique_fd.hpp"

namespace perf {

// As exec wants them; they live as long as the words.
std::vector<char*> c_strings(std::vector<std::string>& words);
std::vector<char*> c_strings(const std::vector<std::string>&&) = delete;

class Child {
public:
    // Its output can be read here; Ctrl-C on the terminal does not reach it, and it does not
    // outlive this process. Throws Error.
    explicit Child(std::vector<std::string> words);
    // SIGTERM, and SIGKILL if that does not help.
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // The first line of its output, or what came of it within the time.
    std::string read_line(int timeout_ms);

private:
    bool has_ended();

    pid_t pid_ = -1;
    UniqueFd output_;
};

}  // namespace perf
