// SPDX-License-Identifier: BSD-3-Clause
// rpma-perf: what remote persistence costs, measured and drawn.
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

int draw(const std::vector<std::string>& inputs, const std::string& output) {
    std::vector<perf::Named> all;
    for (const std::string& path : inputs) {
        all.push_back({std::filesystem::path(path).stem().string(), perf::read_results(path)});
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
    perf::use_library(line.run.library, argv);
    perf::capture_rpma_log();
    perf::catch_stop_signals();
    switch (line.command) {
        case perf::Command::server:
            return perf::run_server(line.server);
        case perf::Command::local:
            return perf::run_local(line.local, line.server, line.run, argv);
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
