// SPDX-License-Identifier: BSD-3-Clause
#include "crash/workload.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>

#include "ask.hpp"
#include "crash/ports.hpp"
#include "crash/process.hpp"
#include "environment.hpp"

namespace launcher::crash {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr int kNotExecutable = 126;  // of a shell
constexpr int kNotFound = 127;
constexpr auto kStep = milliseconds(5);
constexpr auto kLate = std::chrono::seconds(5);  // a process dies after its connections
constexpr auto kSettled = milliseconds(100);     // without an event, the server has nothing to do
constexpr std::array<std::string_view, 5> kOurFiles = {"server.out", "client.err", "check.out",
                                                       "points", "report.json"};

bool is_ours(const std::string& name) {
    return std::ranges::find(kOurFiles, name) != kOurFiles.end();
}

std::string content_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + by.size())) {
        text.replace(at, what.size(), by);
    }
}

std::string filled_in(std::string command, const Scratch& scratch, std::uint16_t port) {
    replace_all(command, "{dir}", scratch.directory());
    replace_all(command, "{port}", std::to_string(port));
    return command;
}

// FNV-1a
std::uint64_t add_to(std::uint64_t sum, const std::string& bytes) {
    for (const char one : bytes) {
        sum = (sum ^ static_cast<unsigned char>(one)) * 0x100000001b3ULL;
    }
    return sum;
}

std::uint64_t sum_of(const Scratch& scratch) {
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(scratch.directory())) {
        if (entry.is_regular_file() && !is_ours(entry.path().filename())) {
            files.insert(entry.path());
        }
    }
    std::uint64_t sum = 0xcbf29ce484222325ULL;
    for (const std::string& file : files) {
        sum = add_to(add_to(sum, file.substr(scratch.directory().size())), content_of(file));
    }
    return sum;
}

// The server's process that keeps account, as its first line of points says; 0: none yet.
int accounting_process(const Scratch& scratch) {
    std::ifstream points(scratch.path("points"));
    std::string hash;
    std::string word;
    int process = 0;
    return points >> hash >> word >> process && word == "process" ? process : 0;
}

bool wait_until_listening(Process& server, std::uint16_t port, milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!listened_on(port)) {
        if (!server.running() || std::chrono::steady_clock::now() >= end) {
            return false;
        }
        std::this_thread::sleep_for(kStep);
    }
    return true;
}

// The client is done; the server may still have something to do.
void wait_until_settled(const Scratch& scratch) {
    std::error_code error;
    auto size = fs::file_size(scratch.path("points"), error);
    auto since = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - since < kSettled) {
        std::this_thread::sleep_for(kStep);
        const auto now = fs::file_size(scratch.path("points"), error);
        if (now != size) {
            size = now;
            since = std::chrono::steady_clock::now();
        }
    }
}

std::string tail_of(const std::string& file) {
    constexpr std::size_t kShown = 600;
    const std::string text = content_of(file);
    return text.size() <= kShown ? text : "..." + text.substr(text.size() - kShown);
}

}  // namespace

Scratch::Scratch(bool keep) : keep_(keep) {
    std::string name = (fs::temp_directory_path() / "rpma-crash-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) {
        directory_ = name;
    }
}

Scratch::~Scratch() {
    std::error_code error;
    if (!keep_ && !directory_.empty()) {
        fs::remove_all(directory_, error);
    }
}

Workload::Workload(const Options& options, const std::string& library)
    : options_(options), library_(library) {}

std::vector<std::pair<std::string, std::string>> Workload::environment(const Case& which,
                                                                       const Scratch& scratch,
                                                                       bool server) const {
    auto out = fabric_environment(library_, {});
    out.emplace_back("RPMA_FABRIC_PLATFORM", options_.platform);
    out.emplace_back("RPMA_CRASH_DIR", scratch.directory());
    if (server) {
        out.emplace_back("RPMA_FABRIC_REPORT", scratch.path("report.json"));
        out.emplace_back("RPMA_FABRIC_EVENTS", scratch.path("points"));
        out.emplace_back("RPMA_FABRIC_SEED", std::to_string(which.seed));
        if (which.lose) {
            out.emplace_back("RPMA_FABRIC_LOSE", text_of(*which.lose));
        }
        if (!which.at_end) {
            out.emplace_back("RPMA_FABRIC_POWER_FAIL", std::to_string(which.point));
        }
    }
    return out;
}

// The client is done, or has lost its peer. Nothing if the server's power has failed, or fails now.
Result<void> Workload::end_of_work(const Case& which, const Scratch& scratch, Process& server,
                                   Process& client) const {
    const auto status = client.wait(milliseconds(0));
    const bool done = status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
    if (!done && (!status || server.wait(kLate))) {
        return status ? Result<void>() : failure(kExitFailure, "the client did not end in time");
    }
    if (!done) {
        return failure(kExitFailure,
                       fmt::format("the client failed although the power did not fail:\n{}",
                                   tail_of(scratch.path("client.err"))));
    }
    wait_until_settled(scratch);
    const int process = accounting_process(scratch);
    if (process == 0) {
        return failure(kExitFailure,
                       fmt::format("the server has registered no memory that is a file, or none of "
                                   "which account is kept:\n{}",
                                   tail_of(scratch.path("server.out"))));
    }
    const auto asked = ask(process, fmt::format("power-fail {}", which.seed));
    return asked || server.wait(kLate) ? Result<void>() : tl::unexpected(asked.error());
}

Result<Outcome> Workload::run(const Case& which, const Scratch& scratch) const {
    const auto limit = std::chrono::seconds(options_.timeout);
    const std::uint16_t port = free_port();
    Process server(filled_in(options_.server, scratch, port), environment(which, scratch, true),
                   scratch.path("server.out"), "");
    if (!wait_until_listening(server, port, limit) && which.at_end) {
        return failure(kExitFailure,
                       fmt::format("the server does not listen on port {{port}} ({}):\n{}", port,
                                   tail_of(scratch.path("server.out"))));
    }
    Process client(filled_in(options_.client, scratch, port), environment(which, scratch, false),
                   scratch.path("client.out"), scratch.path("client.err"));
    const auto end = std::chrono::steady_clock::now() + limit;
    while (client.running() && server.running() && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(kStep);
    }
    if (server.running()) {
        if (const auto ended = end_of_work(which, scratch, server, client); !ended) {
            return tl::unexpected(ended.error());
        }
    }
    server.wait(limit);
    const bool ended = client.wait(milliseconds(options_.grace)).has_value();
    client.kill_group();
    client.wait(limit);
    return collect(scratch, !ended);
}

Result<Outcome> Workload::collect(const Scratch& scratch, bool client_killed) const {
    Outcome out;
    out.client_killed = client_killed;
    out.report = nlohmann::json::parse(content_of(scratch.path("report.json")), nullptr, false);
    if (out.report.is_discarded() && fs::exists(scratch.path("report.json"))) {
        return failure(kExitFailure,
                       fmt::format("the report of the power failure is not complete; is there room "
                                   "in {} (TMPDIR)?\n{}",
                                   scratch.directory(), tail_of(scratch.path("server.out"))));
    }
    if (out.report.is_discarded() || !out.report.contains("lost")) {
        return failure(
            kExitFailure,
            fmt::format(
                "the server ended before the power failed; let it serve until it is killed:\n{}",
                tail_of(scratch.path("server.out"))));
    }
    out.acknowledged = content_of(scratch.path("client.out"));
    out.content = sum_of(scratch);
    return out;
}

Result<Verdict> Workload::check(const Scratch& scratch) const {
    const Environment environment = {{"RPMA_CRASH_DIR", scratch.directory()},
                                     {"RPMA_CRASH_ACKS", scratch.path("client.out")}};
    const std::uint16_t port = free_port();
    Process process(filled_in(options_.check, scratch, port), environment,
                    scratch.path("check.out"), "");
    const auto status = process.wait(std::chrono::seconds(options_.timeout));
    process.kill_group();
    const std::string output = tail_of(scratch.path("check.out"));
    if (!status) {
        return Verdict{false, "it did not end in time\n" + output};
    }
    if (WIFSIGNALED(*status)) {
        return Verdict{false,
                       fmt::format("it was killed by signal {}\n", WTERMSIG(*status)) + output};
    }
    if (WEXITSTATUS(*status) == kNotFound || WEXITSTATUS(*status) == kNotExecutable) {
        return failure(kExitFailure, fmt::format("the check cannot be run:\n{}", output));
    }
    return Verdict{WEXITSTATUS(*status) == 0, output};
}

std::string Workload::points(const Scratch& scratch) {
    return content_of(scratch.path("points"));
}

}  // namespace launcher::crash
