// SPDX-License-Identifier: BSD-3-Clause
// rpma-perf: what remote persistence costs, measured and drawn.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "compare.hpp"
#include "error.hpp"
#include "library.hpp"
#include "options.hpp"
#include "output.hpp"
#include "rpma_link.hpp"
#include "stop_signal.hpp"
#include "writers.hpp"

namespace {

// The file's name without its ending, with a number where an earlier file has the same.
std::string name_for(const std::vector<perf::Named>& earlier, const std::string& path) {
    const std::string stem = std::filesystem::path(path).stem().string();
    std::string name = stem;
    const auto taken = [&name](const perf::Named& one) { return one.name == name; };
    for (int i = 2; std::any_of(earlier.begin(), earlier.end(), taken); i++) {
        name = fmt::format("{} ({})", stem, i);
    }
    return name;
}

int draw(const std::vector<std::string>& inputs, const std::string& output) {
    std::vector<perf::Named> all;
    all.reserve(inputs.size());
    for (const std::string& path : inputs) {
        all.push_back({name_for(all, path), perf::read_results(path)});
    }
    perf::write_file(output, perf::as_report(all));
    return 0;
}

int carry_out(const perf::CommandLine& line, char** argv) {
    switch (line.command) {
        case perf::Command::compare:
            return perf::run_compare(line.compared.first, line.compared.second);
        case perf::Command::report:
            return draw(line.drawn, line.page);
        default:
            break;
    }
    if (line.command == perf::Command::local) {
        perf::go_on_fabric(line.local, argv);
    }
    perf::use_library(line.run.library, argv);
    perf::capture_rpma_log();
    perf::catch_stop_signals();
    switch (line.command) {
        case perf::Command::server:
            return perf::run_server(line.server);
        case perf::Command::local:
            return perf::run_local(line.server, line.run);
        default:
            return perf::run_client(line.run);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        perf::CommandLine line;
        int exit_status = 0;
        if (!perf::parse_command_line(argc, argv, line, exit_status)) {
            return exit_status;
        }
        return carry_out(line, argv);
    } catch (const std::exception& error) {
        (void)std::fflush(stdout);
        (void)std::fprintf(stderr, "rpma-perf: %s\n", error.what());
        return 1;
    }
}
