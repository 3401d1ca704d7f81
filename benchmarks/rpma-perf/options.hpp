// SPDX-License-Identifier: BSD-3-Clause
// The command line.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "local.hpp"
#include "run.hpp"
#include "server.hpp"

namespace perf {

enum class Command { server, run, local, compare, report };

struct CommandLine {
    Command command = Command::run;
    ServerOptions server;
    RunOptions run;
    LocalOptions local;
    std::pair<std::string, std::string> compared;  // files
    std::vector<std::string> drawn;                // files of report
    std::string page;                              // of report
};

// False if there is nothing to do (help, version, wrong options); `exit_status` is set then. Throws
// Error for values that make no sense.
bool parse_command_line(int argc, char** argv, CommandLine& line, int& exit_status);

}  // namespace perf
