// SPDX-License-Identifier: BSD-3-Clause
#include "persistence_commands.hpp"

#include "ask.hpp"
#include "crash/crash_test.hpp"

namespace launcher {

void PersistenceCommands::add(CLI::App& app) {
    add_report(app);
    add_power_fail(app);
    add_crash_test(app);
}

void PersistenceCommands::add_report(CLI::App& app) {
    report_ = app.add_subcommand(
        "report", "Print what a running program (started with --platform) has not made durable");
    report_->add_option("process", target_, "Number of the process, or a report as JSON")
        ->type_name("PID|FILE")
        ->required();
    report_->add_flag("--json", json_, "Print it as JSON");
    report_->footer("Exit status: 0 if everything is durable, 123 if not.");
}

void PersistenceCommands::add_power_fail(CLI::App& app) {
    power_fail_ = app.add_subcommand(
        "power-fail", "Pull the plug of a running program (started with --platform)");
    power_fail_->add_option("process", target_, "Number of the process")
        ->type_name("PID")
        ->required();
    power_fail_->add_option("--seed", seed_, "Which of the possible contents survives")
        ->type_name("S");
}

void PersistenceCommands::add_crash_test(CLI::App& app) {
    crash_test_ = app.add_subcommand(
        "crash-test",
        "Cut the power at many points of a workload, and check what is left each time");
    CLI::App* const command = crash_test_;
    command->add_option("--platform", options_.platform, "As for run; default adr")
        ->type_name("PLATFORM");
    command->add_option("--server", options_.server, "Starts the server that loses its power")
        ->type_name("CMD");
    command->add_option("--client", options_.client, "Does the work and ends with 0")
        ->type_name("CMD");
    command->add_option("--check", options_.check, "Ends with 0 if what is left is right")
        ->type_name("CMD");
    command->add_option("--points", options_.points, "all, or how many, spread evenly")
        ->type_name("all|N");
    command->add_option("--seeds", options_.seeds, "Contents to try at each point; default 4")
        ->type_name("K");
    command->add_option("--jobs", options_.jobs, "Runs at the same time; default: one per CPU")
        ->type_name("J");
    command->add_option("--timeout", options_.timeout, "Limit of each command; default 60")
        ->type_name("SECONDS");
    command
        ->add_option("--grace", options_.grace,
                     "What the client has to end after the power failure; default 1000")
        ->type_name("MS");
    command
        ->add_option("--example", options_.example_file,
                     "Where a failing example is written; default crash-test.json")
        ->type_name("FILE");
    command
        ->add_option("--shrink", options_.shrink,
                     "Runs to find the smallest loss that still fails; default 40, 0: none")
        ->type_name("N");
    command->add_option("--replay", options_.replay_file, "Run the example in FILE again")
        ->type_name("FILE");
    command->add_flag("--keep", options_.keep, "Leave the scratch directories");
    command->footer(
        "The commands are run by sh(1). {dir} stands for a scratch directory, new in each run, and "
        "{port}\n"
        "for a free port that the server listens on. The client's output is in {dir}/client.out.\n"
        "Exit status: 0 if every case passes, 1 if one fails, 125 if the test itself is wrong.");
}

bool PersistenceCommands::parsed() const {
    return report_->parsed() || power_fail_->parsed() || crash_test_->parsed();
}

Result<int> PersistenceCommands::run() const {
    if (report_->parsed()) {
        return print_report(target_, json_);
    }
    if (crash_test_->parsed()) {
        return crash::crash_test(options_);
    }
    if (const auto failed = fail_power(target_, seed_); !failed) {
        return tl::unexpected(failed.error());
    }
    return 0;
}

}  // namespace launcher
