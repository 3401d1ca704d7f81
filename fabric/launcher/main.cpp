// SPDX-License-Identifier: BSD-3-Clause
// rpma-fabric: starts unmodified RDMA programs on the software device.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <exception>

#include "info.hpp"
#include "launcher_config.hpp"
#include "library.hpp"
#include "persistence_commands.hpp"
#include "persistence_options.hpp"
#include "run.hpp"

namespace {

using launcher::FabricOptions;
using launcher::Failure;
using launcher::Result;

struct CommandLine {
    FabricOptions fabric;
    bool print = false;
    bool real = false;
};

int report(const Failure& failure) {
    fmt::print(stderr, "rpma-fabric: {}\n", failure.message);
    return failure.exit_code;
}

void add_fabric_options(CLI::App* app, FabricOptions& options) {
    app->add_option("--native", options.native,
                    "Native operations the device offers: none, or flush, atomic_write "
                    "(default: all that the rdma-core it was built with knows)")
        ->type_name("LIST");
    app->add_option("--mtu", options.mtu,
                    "Payload bytes in one packet, a power of two from 256 to 4194304")
        ->type_name("BYTES");
    app->add_option("--log", options.log,
                    "The fabric's own log (error, warning, info or debug), to stderr or FILE")
        ->type_name("LEVEL[:FILE]");
}

CLI::App* add_run(CLI::App& app, CommandLine& line) {
    CLI::App* run = app.add_subcommand(
        "run",
        "Start a program on the fabric: rpma-fabric run [OPTIONS] -- PROGRAM [ARGUMENTS...]");
    run->add_option("--trace", line.fabric.trace_file,
                    "Write one line per packet and event to FILE (emptied first)")
        ->type_name("FILE");
    add_fabric_options(run, line.fabric);
    launcher::add_options(run, line.fabric.pcap);
    launcher::add_options(run, line.fabric.faults);
    add_persistence_options(run, line.fabric.persistence);
    run->add_flag("--print", line.print,
                  "Print the command with its environment for a shell, start nothing");
    run->prefix_command();  // what follows the options is the program's, and left as it is
    run->footer(
        "Exit status: the program's own; 127 if it is not found, 126 if it cannot be started "
        "under\n"
        "the fabric, 125 if the fabric itself is missing.\n\n"
        "Example: rpma-fabric run --trace /tmp/trace -- rping -s -a 127.0.0.1 -C 3");
    return run;
}

CLI::App* add_info(CLI::App& app, CommandLine& line) {
    CLI::App* info =
        app.add_subcommand("info", "Print the device, its addresses, limits and native operations");
    add_fabric_options(info, line.fabric);
    info->add_flag("--real", line.real,
                   "Print the devices of this machine without the fabric instead");
    return info;
}

// The report must come from a process that has the fabric loaded, so the launcher starts itself
// under it.
int info(const CommandLine& line) {
    if (!line.real) {
        return report(launcher::run(line.fabric, {"/proc/self/exe", "info", "--real"}));
    }
    const auto printed = launcher::print_devices();
    return printed ? 0 : report(printed.error());
}

int run(const CommandLine& line, const std::vector<std::string>& command) {
    if (command.empty()) {
        return report(
            {launcher::kExitFailure, "run: no program given; see rpma-fabric run --help"});
    }
    if (!line.print) {
        return report(launcher::run(line.fabric, command));
    }
    const auto printed = launcher::print_command(line.fabric, command);
    return printed ? 0 : report(printed.error());
}

// The words before a first "--" are ours (and may name the program, where no "--" was given); those
// behind it are the program's, and CLI11, which would interpret brackets and quotes in them, never
// sees them.
struct Words {
    std::vector<const char*> ours;
    std::vector<std::string> behind;
    bool separated = false;
};

Words split(int argc, char** argv) {
    Words words;
    for (int i = 0; i < argc; i++) {
        if (words.separated) {
            words.behind.emplace_back(argv[i]);
        } else if (std::strcmp(argv[i], "--") == 0) {
            words.separated = true;
        } else {
            words.ours.push_back(argv[i]);
        }
    }
    return words;
}

// CLI11 would only say that a subcommand is required. NULL if there is nothing to complain of.
const char* unknown_command(const CLI::App& app, const Words& words) {
    if (words.ours.size() < 2 || words.ours[1][0] == '-') {
        return nullptr;
    }
    const auto named =
        app.get_subcommands([&](const CLI::App* one) { return one->get_name() == words.ours[1]; });
    return named.empty() ? words.ours[1] : nullptr;
}

Result<std::vector<std::string>> command_of(const std::vector<std::string>& unparsed,
                                            const Words& words) {
    if (!unparsed.empty() && unparsed.front().starts_with('-')) {
        return launcher::failure(
            launcher::kExitFailure,
            fmt::format("run: unknown option {}; see rpma-fabric run --help", unparsed.front()));
    }
    std::vector<std::string> command = unparsed;
    if (!command.empty() && words.separated) {
        command.emplace_back("--");
    }
    command.insert(command.end(), words.behind.begin(), words.behind.end());
    if (command.empty()) {
        return launcher::failure(launcher::kExitFailure,
                                 "run: no program given; see rpma-fabric run --help");
    }
    return command;
}

int launch(int argc, char** argv) {
    CLI::App app(
        "Runs unmodified RDMA programs on a device made of software: no adapter, no kernel module, "
        "no root.",
        "rpma-fabric");
    CommandLine line;
    app.set_version_flag("--version", fmt::format("rpma-fabric {}", launcher::config::kVersion));
    app.require_subcommand(1);
    const CLI::App* run_command = add_run(app, line);
    add_info(app, line);
    launcher::PersistenceCommands persistence;
    persistence.add(app);
    const Words words = split(argc, argv);
    if (const char* const wrong = unknown_command(app, words)) {
        return report({launcher::kExitFailure,
                       fmt::format("{}: no such command; see rpma-fabric --help", wrong)});
    }
    try {
        app.parse(static_cast<int>(words.ours.size()), words.ours.data());
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : launcher::kExitFailure;
    }
    if (persistence.parsed()) {
        const auto status = persistence.run();
        return status ? *status : report(status.error());
    }
    if (!run_command->parsed()) {
        return info(line);
    }
    const auto command = command_of(run_command->remaining(), words);
    return command ? run(line, *command) : report(command.error());
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return launch(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rpma-fabric: %s\n", error.what());
        return launcher::kExitFailure;
    }
}
