// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include <algorithm>
#include <ctime>

#include "error.hpp"
#include "machine.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "stop_signal.hpp"
#include "writers.hpp"

namespace perf {
namespace {

constexpr int kSignalBase = 128;

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    (void)std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

// One round over the plan. False if it must end; `note` says why.
bool measure_round(Client& client, const RunOptions& options, const std::vector<Case>& plan,
                   Progress& progress, Results& results) {
    for (const Case& point : plan) {
        progress.next(point);
        Histogram latency;
        std::string failure;
        const Run run = client.measure(
            point, options.timing,
            [&](std::uint64_t operations, double seconds) { progress.update(operations, seconds); },
            latency, failure);
        if (run.operations > 0) {
            Result& result = results.of(point);
            result.runs.push_back(run);
            result.latency.merge(latency);
        }
        if (!failure.empty()) {
            results.note = fmt::format("{}: {}", describe(point), failure);
            return false;
        }
        if (stop_requested()) {
            results.note = "stopped by a signal";
            return false;
        }
    }
    return true;
}

// librpma would refuse the first flush, but its advice is for those who write programs.
void check_declaration(const std::vector<Case>& plan, const nlohmann::json& target) {
    const bool needed = std::any_of(plan.begin(), plan.end(), [](const Case& point) {
        return point.api == Api::rpma && point.flushes() && point.flush == FlushType::persistent;
    });
    if (needed && !target.at("target_memory").at("direct_write").get<bool>()) {
        fail(
            "--flush persistent: the target has not declared direct write to persistent memory: "
            "start it with --direct-write");
    }
}

// Tries all outputs, so that one full disk does not cost the others. The first failure, or empty.
std::string write_outputs(const OutputOptions& output, const Results& results) {
    std::string failure;
    const auto attempt = [&](const std::string& path, auto render) {
        try {
            if (!path.empty()) {
                write_file(path, render());
            }
        } catch (const std::exception& error) {
            failure = failure.empty() ? error.what() : failure;
        }
    };
    const bool to_stdout = output.json == "-" || output.csv == "-";
    fmt::print(to_stdout ? stderr : stdout, "{}", as_table(results));
    attempt(output.json, [&] { return as_json(results); });
    attempt(output.csv, [&] { return as_csv(results); });
    attempt(output.report, [&] {
        return as_report({{results.initiator.value("host", "results"), results}});
    });
    return failure;
}

}  // namespace

int run_client(const RunOptions& options) {
    const std::vector<Case> plan = make_plan(options.plan);
    for (const std::string& path :
         {options.output.json, options.output.csv, options.output.report}) {
        check_writable(path);
    }
    Client client(options.host, options.port);
    Results results;
    results.date = utc_now();
    results.command = options.command;
    results.target = client.describe_target();
    check_declaration(plan, results.target);
    results.initiator = describe_machine(client.address(), false);
    {
        Progress progress(plan.size() * options.repeat);
        for (unsigned i = 0; i < options.repeat && results.complete; i++) {
            results.complete = measure_round(client, options, plan, progress, results);
        }
    }
    const std::string unwritten = write_outputs(options.output, results);
    if (!unwritten.empty()) {
        fmt::print(stderr, "rpma-perf: {}\n", unwritten);
    }
    if (stop_requested()) {
        return kSignalBase + stop_signal();
    }
    if (!results.complete) {
        fmt::print(stderr, "rpma-perf: {}\n", results.note);
    }
    return results.complete && unwritten.empty() ? 0 : 1;
}

}  // namespace perf
