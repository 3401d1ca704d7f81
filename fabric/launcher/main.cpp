// SPDX-License-Identifier: BSD-3-Clause
// rpma-fabric: starts unmodified RDMA programs on the software device.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "info.hpp"
#include "launcher_config.hpp"
#include "library.hpp"
#include "run.hpp"

namespace {

using launcher::FabricOptions;
using launcher::Failure;

struct CommandLine {
    FabricOptions fabric;
    std::vector<std::string> command;
    bool print = false;
    bool real = false;
};

int report(const Failure& failure) {
    fmt::print(stderr, "rpma-fabric: {}\n", failure.message);
    return failure.exit_code;
}

void add_fabric_options(CLI::App* app, FabricOptions& options) {
    app->add_option("--native", options.native,
                    "Native operations the device offers: none, or flush, atomic_write
                    "
                    "(default: all that the installed rdma-core knows)")
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
    run->add_flag("--print", line.print,
                  "Print the command with its environment for a shell, start nothing");
    run->add_option("program", line.command, "The program and its arguments")
        ->required()
        ->type_name("");
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

int run(const CommandLine& line) {
    if (!line.print) {
        return report(launcher::run(line.fabric, line.command));
    }
    const auto printed = launcher::print_command(line.fabric, line.command);
    return printed ? 0 : report(printed.error());
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
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : launcher::kExitFailure;
    }
    return run_command->parsed() ? run(line) : info(line);
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
