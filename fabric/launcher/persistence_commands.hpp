// SPDX-License-Identifier: BSD-3-Clause
// The subcommands around the persistence model: report, power-fail, crash-test.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "crash/options.hpp"
#include "failure.hpp"

namespace launcher {

class PersistenceCommands {
public:
    void add(CLI::App& app);
    bool parsed() const;
    Result<int> run() const;  // the exit status

private:
    void add_report(CLI::App& app);
    void add_power_fail(CLI::App& app);
    void add_crash_test(CLI::App& app);

    CLI::App* report_ = nullptr;
    CLI::App* power_fail_ = nullptr;
    CLI::App* crash_test_ = nullptr;
    std::string target_;
    bool json_ = false;
    std::uint64_t seed_ = 0;
    crash::Options options_;
};

}  // namespace launcher
