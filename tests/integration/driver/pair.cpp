// SPDX-License-Identifier: BSD-3-Clause
// Runs one scenario: starts its server role and its client roles as processes of their own, joined
// by socket pairs for synchronisation, and judges how they ended.
//
// pair [OPTIONS] PROGRAM [ARGUMENT…]
//   --launcher PATH        starts each role as "PATH run -- …" (see launcher_words)
//   --before[-server|-client] "WORDS"   words in front of the launcher, such as a name space or
//   another user
//   --wrap "WORDS"         words between the launcher and the program, such as valgrind
//   --env[-server|-client] NAME=VALUE
//   --library[-server|-client] FILE     the librpma that the role must use; its directory goes
//   first in LD_LIBRARY_PATH
//   --exit-server CODE, --exit-client CODE   expected ending, "killed" for SIGKILL; default 0
//   --exit-client-N CODE   the same for the client with this number only, counted from 0
//   --clients N            default 1
//   --timeout SECONDS      for everything; default 60
//   --connect-address A    what clients get instead of the server's address
//   --listen-address A     what the server gets
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "driver/options.hpp"
#include "driver/port.hpp"
#include "driver/report.hpp"
#include "driver/scratch.hpp"
#include "driver/supervise.hpp"

namespace driver {
namespace {

std::vector<std::string> known_options() {
    return {"launcher",       "before",         "before-server",
            "before-client",  "wrap",           "env",
            "env-server",     "env-client",     "library",
            "library-server", "library-client", "exit-server",
            "exit-client",    "exit-client-0",  "exit-client-1",
            "clients",        "timeout",        "connect-address",
            "listen-address"};
}

struct Channel {
    UniqueFd server;
    UniqueFd client;
};

Channel make_channel() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        give_up("socketpair");
    }
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void choose_library(const std::string& file, std::vector<std::string>& environment) {
    if (file.empty()) {
        return;
    }
    std::string path = std::filesystem::path(file).parent_path().string();
    if (const char* inherited = std::getenv("LD_LIBRARY_PATH");
        inherited != nullptr && *inherited != '\0') {
        path += std::string(":") + inherited;
    }
    environment.push_back("LD_LIBRARY_PATH=" + path);
    environment.push_back("RPMA_TEST_LIBRARY=" + file);
}

class Pair {
public:
    explicit Pair(const Options& options) : options_(options) {}
    int run();

private:
    Command command(const std::string& role) const;
    Command client_command(int index) const;
    std::string expected(const Process& program) const;
    void start();
    bool as_expected(const Process& program) const;
    bool judge() const;
    bool directory_is_empty() const;

    const Options& options_;
    Port port_;
    Scratch scratch_;
    std::vector<Process> programs_;
};

Command Pair::command(const std::string& role) const {
    Command result{.name = role,
                   .words = {},
                   .environment = options_.all("env"),
                   .descriptors = {},
                   .directory = scratch_.path()};
    for (const char* side : {"before", role == "server" ? "before-server" : "before-client"}) {
        append(result.words, split_words(options_.one(side, "")));
    }
    append(result.words, launcher_words(options_.one("launcher", "")));
    append(result.words, split_words(options_.one("wrap", "")));
    result.words.push_back(program_path(options_.rest().front()));
    result.words.push_back(role);
    result.words.insert(result.words.end(), options_.rest().begin() + 1, options_.rest().end());

    append(result.environment, options_.all("env-" + role));
    choose_library(options_.one("library-" + role, options_.one("library", "")),
                   result.environment);
    const std::string address =
        options_.one(role == "server" ? "listen-address" : "connect-address", test_address());
    result.environment.push_back("RPMA_TEST_ADDRESS=" + address);
    result.environment.push_back("RPMA_TEST_PORT=" + std::to_string(port_.number()));
    result.environment.push_back("RPMA_TEST_DIRECTORY=" + scratch_.path());
    result.environment.push_back("TMPDIR=" + scratch_.path());
    return result;
}

Command Pair::client_command(int index) const {
    Command result = command("client");
    result.name = "client-" + std::to_string(index);
    result.environment.push_back("RPMA_TEST_CLIENT=" + std::to_string(index));
    return result;
}

void set_channels(Command& command, const std::vector<int>& fds) {
    std::string list = "RPMA_TEST_SYNC_FDS=";
    for (const int fd : fds) {
        list += std::to_string(fd) + " ";
    }
    command.environment.push_back(list);
    command.descriptors = fds;
}

void Pair::start() {
    const int clients = options_.number("clients", 1);
    std::vector<Channel> channels;
    std::vector<int> server_ends;
    for (int index = 0; index < clients; ++index) {
        channels.push_back(make_channel());
        server_ends.push_back(channels.back().server.get());
    }
    programs_.reserve(static_cast<std::size_t>(clients) + 1);
    Command server = command("server");
    set_channels(server, server_ends);
    programs_.emplace_back(server);
    for (int index = 0; index < clients; ++index) {
        Command client = client_command(index);
        set_channels(client, {channels[static_cast<std::size_t>(index)].client.get()});
        programs_.emplace_back(client);
    }
}

// Programs are named "server" and "client-N".
std::string Pair::expected(const Process& program) const {
    const bool is_server = program.name() == "server";
    return options_.one("exit-" + program.name(),
                        options_.one(is_server ? "exit-server" : "exit-client", "0"));
}

bool Pair::as_expected(const Process& program) const {
    const std::string wanted = expected(program);
    if (wanted == "killed") {
        return program.ending()->killed_by(SIGKILL);
    }
    return program.ending()->exited_with(
        static_cast<int>(std::strtol(wanted.c_str(), nullptr, 10)));
}

bool Pair::judge() const {
    bool good = true;
    for (const Process& program : programs_) {
        if (!program.ending().has_value() || !as_expected(program)) {
            say("%s %s, expected %s", program.name().c_str(),
                program.ending().has_value() ? program.ending()->text().c_str()
                                             : "can not be killed",
                expected(program).c_str());
            good = false;
        }
    }
    return good;
}

bool Pair::directory_is_empty() const {
    const std::vector<std::string> left = scratch_.entries();
    for (const std::string& name : left) {
        say("the file %s was left behind", name.c_str());
    }
    return left.empty();
}

int Pair::run() {
    const int seconds = options_.number("timeout", 60);
    start();
    const bool in_time = watch_all(programs_, Clock::now() + std::chrono::seconds(seconds),
                                   [&](const Process& program) { return !as_expected(program); });
    if (std::any_of(programs_.begin(), programs_.end(), [](const Process& program) {
            return program.ending().has_value() && program.ending()->exited_with(kSkipped);
        })) {
        return kSkipped;
    }
    if (!in_time) {
        say("not finished in time");
    }
    const bool expected = judge();
    const bool clean = !in_time || nothing_left_running(programs_);
    return in_time && expected && clean && directory_is_empty() ? 0 : kFailed;
}

}  // namespace
}  // namespace driver

int main(int argc, char** argv) {
    ::signal(SIGPIPE, SIG_IGN);
    const driver::Options options(argc, argv, driver::known_options());
    if (options.rest().empty()) {
        errno = EINVAL;
        driver::give_up("usage: pair [OPTIONS] PROGRAM [ARGUMENT…]");
    }
    return driver::Pair(options).run();
}
