// SPDX-License-Identifier: BSD-3-Clause
#include "crash/crash_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "crash/example.hpp"
#include "crash/plan.hpp"
#include "crash/process.hpp"
#include "crash/search.hpp"
#include "crash/shrink.hpp"
#include "crash/workload.hpp"
#include "library.hpp"
#include "memory/persistence/platform.hpp"

namespace launcher::crash {
namespace {

constexpr unsigned kMaxJobs = 64;

Result<void> check_platform(const std::string& platform) {
    if (fabric::memory::persistence::parse_platform(platform)) {
        return {};
    }
    return failure(kExitFailure, fmt::format("crash-test: {}: no platform is described so; see "
                                             "rpma-fabric crash-test --help",
                                             platform));
}

Result<void> check_options(const Options& options) {
    if (options.server.empty() || options.client.empty() || options.check.empty()) {
        return failure(kExitFailure,
                       "crash-test: --server, --client and --check are needed, or --replay");
    }
    if (options.server.find("{port}") == std::string::npos) {
        return failure(kExitFailure,
                       "crash-test: --server names no {port}: each run has a port of its own, on "
                       "which the server has to listen");
    }
    if (auto checked = check_platform(options.platform); !checked) {
        return checked;
    }
    if (options.jobs > kMaxJobs) {
        return failure(kExitFailure,
                       fmt::format("crash-test: --jobs must be at most {}", kMaxJobs));
    }
    if (options.seeds == 0 || options.timeout == 0 || !plan({}, options.points, options.seeds)) {
        return failure(kExitFailure,
                       "crash-test: --points must be all or a number, --seeds and --timeout "
                       "numbers above 0");
    }
    return {};
}

int fail(const nlohmann::json& example) {
    fmt::print("{}", describe(example));
    return kExitMistake;
}

// The name of the mistake comes from the run in which it was found, if this one is the same.
int fail_again(const Replay& read, const Outcome& outcome, const Verdict& verdict) {
    nlohmann::json example = make_example(read.options, read.which, outcome, verdict);
    if (same_loss(example, read.example)) {
        example["mistake"] = read.example["mistake"];
        example["explanation"] = read.example["explanation"];
    } else {
        fmt::print(
            "this run has lost other lines than the example: the workload is not always the "
            "same\n");
    }
    return fail(example);
}

Result<int> replay(const Options& given, const std::string& library) {
    const auto read = read_example(given.replay_file, given);
    if (!read) {
        return tl::unexpected(read.error());
    }
    if (const auto checked = check_platform(read->options.platform); !checked) {
        return tl::unexpected(checked.error());
    }
    const Workload workload(read->options, library);
    const Scratch scratch(given.keep);
    const auto outcome = workload.run(read->which, scratch);
    if (!outcome) {
        return tl::unexpected(outcome.error());
    }
    const auto verdict = workload.check(scratch);
    if (given.keep) {
        fmt::print("what is left is in {}\n", scratch.directory());
    }
    if (!verdict) {
        return tl::unexpected(verdict.error());
    }
    if (!verdict->passed) {
        return fail_again(*read, *outcome, *verdict);
    }
    fmt::print("passed: point {}, seed {} does not fail any more\n", read->which.point,
               read->which.seed);
    return 0;
}

// A test that cannot fail is none.
Result<void> tests_something(const nlohmann::json& report) {
    const std::string left_out = report.value("left_out", "");
    if (!left_out.empty()) {
        return failure(kExitFailure, fmt::format("no account is kept of {}", left_out));
    }
    if (report["events"].get<std::uint64_t>() == 0) {
        return failure(
            kExitFailure,
            fmt::format("nothing was written remotely into memory that is a file ({} bytes into "
                        "other memory): no power failure can change anything",
                        report.value("volatile_bytes", std::uint64_t{0})));
    }
    return {};
}

// Said where a test has passed: a buffer that died with the client has held what it relied on.
void tell_of_killed_clients(std::size_t killed, unsigned grace) {
    if (killed != 0) {
        fmt::print(
            "in {} cases the client had not ended {} ms after the power failure and was killed: "
            "what it had printed and not flushed was not checked (--grace)\n",
            killed, grace);
    }
}

// A run until the client is done, which says which points there are.
Result<std::vector<Case>> explore(const Options& options, const Workload& workload) {
    const Scratch scratch(options.keep);
    const auto outcome = workload.run({0, 0, true}, scratch);
    if (!outcome) {
        return tl::unexpected(outcome.error());
    }
    if (const auto tested = tests_something(outcome->report); !tested) {
        return tl::unexpected(tested.error());
    }
    auto points = parse_points(Workload::points(scratch));
    const auto events = outcome->report["events"].get<std::uint64_t>();
    const auto at_risk = outcome->report["lines_at_risk"].get<std::uint64_t>();
    points.push_back({events, at_risk});
    const auto wanted = different(points);
    auto cases = *plan(wanted, options.points, options.seeds);
    fmt::print("platform {}: {} points, {} of them different, {} cases\n", options.platform,
               points.size(), wanted.size(), cases.size());
    std::fflush(stdout);
    return cases;
}

Result<int> search(const Options& options, const std::string& library) {
    const Workload workload(options, library);
    const auto cases = explore(options, workload);
    if (!cases) {
        return tl::unexpected(cases.error());
    }
    const unsigned cpus = std::max(1U, std::thread::hardware_concurrency());
    const unsigned jobs = options.jobs != 0 ? options.jobs : cpus;
    Search search(options, workload, *cases);
    const auto example = search.run(jobs);
    if (!example) {
        return tl::unexpected(example.error());
    }
    if (interrupted()) {
        return failure(kExitFailure, "interrupted");
    }
    if (!*example) {
        fmt::print("passed: {} cases, {} different contents\n", cases->size(), search.checked());
        tell_of_killed_clients(search.clients_killed(), options.grace);
        return 0;
    }
    const auto smallest = shrink(options, workload, search.failed(), **example);
    const int status = fail(smallest);
    if (const auto saved = save(smallest, options.example_file); !saved) {
        fmt::print("{}\n", saved.error().message);
        return status;
    }
    fmt::print("again: rpma-fabric crash-test --replay {}\n", options.example_file);
    return status;
}

Result<int> test(const Options& options, const std::string& library) {
    if (!options.replay_file.empty()) {
        return replay(options, library);
    }
    if (const auto checked = check_options(options); !checked) {
        return tl::unexpected(checked.error());
    }
    return search(options, library);
}

}  // namespace

Result<int> crash_test(const Options& options) {
    const auto library = find_library();
    if (!library) {
        return tl::unexpected(library.error());
    }
    own_children();
    auto status = test(options, *library);
    end_children();
    return status;
}

}  // namespace launcher::crash
