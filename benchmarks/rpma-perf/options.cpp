// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "error.hpp"
#include "perf_config.hpp"
#include "units.hpp"

namespace perf {
namespace {

constexpr int kUsageStatus = 2;
constexpr int kMaxPort = 65535;
constexpr double kMaxSeconds = 86400;
constexpr unsigned kMaxRepeat = 1000;

// Options whose values are lists, as typed.
struct Lists {
    std::vector<std::string> apis{"rpma", "verbs", "tcp"};
    std::vector<std::string> ops{"flush"};
    std::vector<std::string> flushes{"visibility"};
    std::string sizes = "64,4K,64K";
    std::string depths = "1,16";
    std::string batches = "1";
    std::string connections = "1";
    std::string wait;
    std::string count = "0";
    std::string memory_size = "256M";
};

void add_measuring(CLI::App* app, RunOptions& run, Lists& lists) {
    app->add_option("--op", lists.ops,
                    "Operations: " + fmt::format("{}", fmt::join(op_names(), ", ")) + ", or all")
        ->delimiter(',')
        ->type_name("LIST");
    app->add_option("--api", lists.apis, "Measured side by side: rpma, verbs, tcp")
        ->delimiter(',')
        ->type_name("LIST");
    app->add_option("--flush", lists.flushes, "Flushes: visibility, persistent")
        ->delimiter(',')
        ->type_name("LIST");
    app->add_option("--size", lists.sizes, "Bytes of an operation: a list or ranges, e.g. 64-1M:4")
        ->type_name("LIST");
    app->add_option("--queue-depth", lists.depths, "Operations in flight on a connection")
        ->type_name("LIST");
    app->add_option("--batch", lists.batches, "Operations per completion (and per flush)")
        ->type_name("LIST");
    app->add_option("--connections", lists.connections, "Connections, shared out among the threads")
        ->type_name("LIST");
    app->add_option("--threads", run.plan.threads, "Threads of the initiator")->type_name("N");
    app->add_option(
           "--wait", lists.wait,
           "How both sides wait for completions: poll (busy; default of run) or event (asleep; "
           "default of local)")
        ->type_name("HOW");
    app->add_flag("--verify", run.plan.verify, "Check every byte; figures then include that");
}

void add_timing(CLI::App* app, RunOptions& run, Lists& lists) {
    app->add_option("--warm-up", run.timing.warm_up_s, "Seconds before measuring")
        ->type_name("S")
        ->check(CLI::Range(0.0, kMaxSeconds));
    app->add_option("--duration", run.timing.duration_s, "Seconds of each run")
        ->type_name("S")
        ->check(CLI::Range(0.001, kMaxSeconds));
    app->add_option("--count", lists.count, "Operations of each run, instead of --duration")
        ->type_name("N");
    app->add_option("--repeat", run.repeat, "Runs of each case, which tell the noise")
        ->type_name("N")
        ->check(CLI::Range(1U, kMaxRepeat));
}

void add_outputs(CLI::App* app, RunOptions& run) {
    app->add_option("--json", run.output.json, "Write results to FILE (-: standard output)")
        ->type_name("FILE");
    app->add_option("--csv", run.output.csv,
                    "Write a line for each run to FILE (-: standard output)")
        ->type_name("FILE");
    app->add_option("--report", run.output.report, "Write a page with charts to FILE")
        ->type_name("FILE");
    app->add_option("--library", run.library, "Measure this librpma.so.0 instead of the linked one")
        ->type_name("FILE");
}

void add_memory(CLI::App* app, ServerOptions& server, Lists& lists) {
    app->add_option("--memory", server.memory.path,
                    "Target memory: a file or device DAX (default: DRAM)")
        ->type_name("FILE");
    app->add_option("--memory-size", lists.memory_size, "Bytes of DRAM or of the file")
        ->type_name("SIZE");
    app->add_flag("--direct-write", server.memory.direct_write,
                  "Declare that what the adapter writes reaches the persistence domain without the "
                  "CPU; lets --flush persistent be measured");
}

CLI::Option* add_port(CLI::App* app, int& port) {
    return app->add_option("--port", port, "Port of the control connection")
        ->type_name("N")
        ->check(CLI::Range(0, kMaxPort));
}

void add_server(CLI::App& app, CommandLine& line, Lists& lists) {
    CLI::App* const server = app.add_subcommand("server", "Be the target of measurements");
    server->add_option("--address", line.server.address, "Listen on this address only")
        ->type_name("ADDRESS");
    add_port(server, line.server.port)->description("Port to listen on; 0: any free one");
    server
        ->add_option("--data-port", line.server.data_port,
                     "First of the ports for data connections (default: any free one)")
        ->type_name("N")
        ->check(CLI::Range(0, kMaxPort));
    add_memory(server, line.server, lists);
    server->add_option("--library", line.run.library, "Serve by this librpma.so.0")
        ->type_name("FILE");
}

void add_clients(CLI::App& app, CommandLine& line, Lists& lists) {
    CLI::App* const run = app.add_subcommand("run", "Measure against a server");
    run->add_option("server", line.run.host, "Address or name of the server")->required();
    add_port(run, line.run.port);
    CLI::App* const local =
        app.add_subcommand("local", "Measure with both sides here, on the software device");
    for (CLI::App* const client : {run, local}) {
        add_measuring(client, line.run, lists);
        add_timing(client, line.run, lists);
        add_outputs(client, line.run);
    }
    add_memory(local, line.server, lists);
    local
        ->add_option("--native", line.local.native,
                     "Native operations of the device (rpma-fabric run --native)")
        ->type_name("LIST");
    local->add_option("--mtu", line.local.mtu, "Bytes of a packet (rpma-fabric run --mtu)")
        ->type_name("BYTES");
}

void add_readers(CLI::App& app, CommandLine& line) {
    CLI::App* const compare =
        app.add_subcommand("compare", "Compare two files of results: ratios, and which are noise");
    compare->add_option("a", line.compared.first, "Results of run --json")->required();
    compare->add_option("b", line.compared.second, "Those to compare with them")->required();
    CLI::App* const report =
        app.add_subcommand("report", "Draw files of results side by side on one page");
    report->add_option("results", line.drawn, "Files of run --json")->required();
    report->add_option("-o,--output", line.page, "The page")->required()->type_name("FILE");
}

template <typename T, typename Parse>
std::vector<T> parse_names(const std::vector<std::string>& names, Parse parse) {
    std::vector<T> out;
    out.reserve(names.size());
    for (const std::string& name : names) {
        out.push_back(parse(name));
    }
    return out;
}

void interpret(const Lists& lists, CommandLine& line) {
    PlanOptions& plan = line.run.plan;
    const bool all = lists.ops == std::vector<std::string>{"all"};
    plan.ops = parse_names<Op>(all ? op_names() : lists.ops, parse_op);
    plan.apis = parse_names<Api>(lists.apis, parse_api);
    plan.flushes = parse_names<FlushType>(lists.flushes, parse_flush_type);
    plan.sizes = parse_sizes("--size", lists.sizes);
    plan.depths = parse_sizes("--queue-depth", lists.depths);
    plan.batches = parse_sizes("--batch", lists.batches);
    plan.connections = parse_sizes("--connections", lists.connections);
    // On the software device busy threads would take the processors from the device itself.
    plan.wait = line.command == Command::local ? Wait::event : Wait::poll;
    if (!lists.wait.empty()) {
        plan.wait = parse_wait(lists.wait);
    }
    line.run.timing.operations = parse_sizes("--count", lists.count).front();
    line.server.memory.size = parse_sizes("--memory-size", lists.memory_size).front();
    if (line.server.memory.size == 0) {
        fail("--memory-size: 0 bytes are no memory");
    }
}

Command chosen(const CLI::App& app) {
    const std::string& name = app.get_subcommands().front()->get_name();
    if (name == "server") {
        return Command::server;
    }
    if (name == "run") {
        return Command::run;
    }
    if (name == "local") {
        return Command::local;
    }
    return name == "compare" ? Command::compare : Command::report;
}

std::string as_typed(int argc, char** argv) {
    std::string out = "rpma-perf";
    for (int i = 1; i < argc; i++) {
        out += fmt::format(" {}", argv[i]);
    }
    return out;
}

// CLI11 would only say that a subcommand is required.
bool is_unknown_command(const CLI::App& app, const std::string& word) {
    const auto named =
        app.get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    return !word.starts_with('-') && named.empty();
}

}  // namespace

bool parse_command_line(int argc, char** argv, CommandLine& line, int& exit_status) {
    CLI::App app("Measures remote persistent memory access by librpma.", "rpma-perf");
    app.set_version_flag("--version", fmt::format("rpma-perf {}", config::kVersion));
    app.require_subcommand(1);
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    Lists lists;
    add_server(app, line, lists);
    add_clients(app, line, lists);
    add_readers(app, line);
    if (argc > 1 && is_unknown_command(app, argv[1])) {
        fmt::print(stderr, "rpma-perf: {}: no such command; see rpma-perf --help\n", argv[1]);
        exit_status = kUsageStatus;
        return false;
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        exit_status = app.exit(error) == 0 ? 0 : kUsageStatus;
        return false;
    }
    line.command = chosen(app);
    line.run.command = as_typed(argc, argv);
    interpret(lists, line);
    return true;
}

}  // namespace perf
