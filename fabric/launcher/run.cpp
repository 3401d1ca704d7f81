// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "library.hpp"
#include "program.hpp"

namespace launcher {
namespace {

struct Start {
    std::string program;
    Environment environment;
};

Result<Start> prepare(const FabricOptions& options, const std::vector<std::string>& command) {
    if (auto checked = check(options); !checked) {
        return tl::unexpected(checked.error());
    }
    auto library = find_library();
    if (!library) {
        return tl::unexpected(library.error());
    }
    auto program = find_program(command.front());
    if (!program) {
        return tl::unexpected(program.error());
    }
    return Start{*program, fabric_environment(*library, options)};
}

}  // namespace

Failure run(const FabricOptions& options, const std::vector<std::string>& command) {
    const auto start = prepare(options, command);
    if (!start) {
        return start.error();
    }
    if (!options.trace_file.empty()) {
        if (auto traced = start_trace(options.trace_file); !traced) {
            return traced.error();
        }
    }
    if (auto recorded = launcher::start(options.pcap); !recorded) {
        return recorded.error();
    }
    apply(start->environment);
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& argument : command) {
        arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    execvp(start->program.c_str(), arguments.data());
    return {errno == ENOENT ? kExitNotFound : kExitNotExecutable,
            fmt::format("{}: {}", start->program, std::strerror(errno))};
}

Result<void> print_command(const FabricOptions& options, const std::vector<std::string>& command) {
    const auto start = prepare(options, command);
    if (!start) {
        return tl::unexpected(start.error());
    }
    std::string line = "env";
    for (const auto& [name, value] : start->environment) {
        line += fmt::format(" {}={}", name, shell_quoted(value));
    }
    line += " " + shell_quoted(start->program);
    for (std::size_t i = 1; i < command.size(); i++) {
        line += " " + shell_quoted(command[i]);
    }
    fmt::print("{}\n", line);
    return {};
}

}  // namespace launcher
