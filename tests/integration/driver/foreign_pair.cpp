// SPDX-License-Identifier: BSD-3-Clause
// Runs two programs that know nothing of these tests: starts a server command, waits until it
// listens, starts a client command, and judges exit codes and output.
//
// foreign_pair [OPTIONS] --server "COMMAND" --client "COMMAND"
//   In the commands {address}, {port} and {directory} are replaced. Quotes mean nothing.
//   --launcher PATH           starts both as "PATH run -- …" (see launcher_words)
//   --wrap "WORDS"            between launcher and command
//   --env NAME=VALUE
//   --ready "TEXT"            the server is ready when its output holds TEXT; default: when TCP
//   port {port} listens
//   --exit-server CODE, --exit-client CODE   default 0
//   --expect-server REGEX, --expect-client REGEX   must be found in the output (POSIX extended, any
//   number of times)
//   --reject-server REGEX, --reject-client REGEX   must not
//   --stop-server SIGNAL      sent to the server when the client has ended, for servers that never
//   end
//   --interrupt-client SIGNAL sent to the client when its output holds the text of --interrupt-at,
//   for clients that never end; it has to end by that signal
//   --interrupt-at TEXT
//   --excuse REGEX            any exit code is good if the program's output has this
//   --timeout SECONDS         for everything; default 60
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
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
    return {"server",        "client",        "launcher",    "wrap",          "env",
            "ready",         "exit-server",   "exit-client", "expect-server", "expect-client",
            "reject-server", "reject-client", "stop-server", "timeout",       "interrupt-client",
            "interrupt-at",  "excuse"};
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t place = text.find(from); place != std::string::npos;
         place = text.find(from, place + to.size())) {
        text.replace(place, from.size(), to);
    }
}

// Lines of /proc/PID/net/tcp{,6}: "sl: ADDRESS:PORT REMOTE:PORT STATE …", numbers in hex, state 0A
// is "listening".
bool port_listens(pid_t pid, int port) {
    char wanted[8];
    std::snprintf(wanted, sizeof wanted, ":%04X", static_cast<unsigned>(port));
    for (const char* table : {"tcp", "tcp6"}) {
        std::ifstream file("/proc/" + std::to_string(pid) + "/net/" + table);
        for (std::string line; std::getline(file, line);) {
            const std::vector<std::string> fields = split_words(line);
            if (fields.size() > 3 && fields[1].ends_with(wanted) && fields[3] == "0A") {
                return true;
            }
        }
    }
    return false;
}

bool matches(const std::string& text, const std::string& pattern) {
    try {
        return std::regex_search(text, std::regex(pattern, std::regex::extended));
    } catch (const std::regex_error& error) {
        errno = EINVAL;
        give_up("'%s': %s", pattern.c_str(), error.what());
    }
}

bool killed(const Ending& ending) {
    return WIFSIGNALED(ending.status);
}

class ForeignPair {
public:
    explicit ForeignPair(const Options& options)
        : options_(options),
          end_(Clock::now() + std::chrono::seconds(options.number("timeout", 60))) {
        programs_.reserve(2);
    }
    int run();

private:
    Command command(const std::string& role) const;
    bool server_is_ready();
    void interrupt_client();
    bool ended_as_wanted(const Process& program) const;
    bool judge(const Process& program) const;
    bool judge_output(const Process& program) const;

    const Options& options_;
    Clock::time_point end_;
    Port port_;
    Scratch scratch_;
    std::vector<Process> programs_;
};

Command ForeignPair::command(const std::string& role) const {
    std::string text = options_.one(role, "");
    replace_all(text, "{address}", test_address());
    replace_all(text, "{port}", std::to_string(port_.number()));
    replace_all(text, "{directory}", scratch_.path());
    Command result{.name = role,
                   .words = launcher_words(options_.one("launcher", "")),
                   .environment = options_.all("env"),
                   .descriptors = {},
                   .directory = scratch_.path()};
    append(result.words, split_words(options_.one("wrap", "")));
    append(result.words, split_words(text));
    return result;
}

bool ForeignPair::server_is_ready() {
    const std::string text = options_.one("ready", "");
    const Process& server = programs_.front();
    watch(programs_, end_, [&] {
        return server.ending().has_value() ||
               (text.empty() ? port_listens(server.pid(), port_.number())
                             : server.output().find(text) != std::string::npos);
    });
    return Clock::now() < end_ && !server.ending().has_value();
}

bool ForeignPair::judge_output(const Process& program) const {
    bool good = true;
    const auto check = [&](const std::string& option, bool wanted) {
        for (const std::string& pattern : options_.all(option + program.name())) {
            if (matches(program.output(), pattern) != wanted) {
                say("the output of the %s has %s '%s'", program.name().c_str(), wanted ? "no" : "a",
                    pattern.c_str());
                good = false;
            }
        }
    };
    check("expect-", true);
    check("reject-", false);
    return good;
}

bool ForeignPair::ended_as_wanted(const Process& program) const {
    if (!program.ending().has_value()) {
        return false;
    }
    const std::string excuse = options_.one("excuse", "");
    if (!excuse.empty() && !killed(*program.ending()) && matches(program.output(), excuse)) {
        return true;
    }
    const bool is_server = program.name() == "server";
    const int interrupt = options_.number("interrupt-client", 0);
    if (!is_server && interrupt != 0) {
        return program.ending()->killed_by(interrupt);
    }
    const int stop = is_server ? options_.number("stop-server", 0) : 0;
    return program.ending()->exited_with(options_.number("exit-" + program.name(), 0)) ||
           (stop != 0 && program.ending()->killed_by(stop));
}

bool ForeignPair::judge(const Process& program) const {
    const bool good = ended_as_wanted(program);
    if (!good) {
        say("%s %s, expected %d", program.name().c_str(),
            program.ending().has_value() ? program.ending()->text().c_str() : "can not be killed",
            options_.number("exit-" + program.name(), 0));
    }
    return judge_output(program) && good;
}

void ForeignPair::interrupt_client() {
    const int signal = options_.number("interrupt-client", 0);
    if (signal == 0) {
        return;
    }
    const std::string text = options_.one("interrupt-at", "");
    watch(programs_, end_, [&] {
        return programs_.back().ending().has_value() ||
               programs_.back().output().find(text) != std::string::npos;
    });
    programs_.back().kill_group(signal);
}

int ForeignPair::run() {
    programs_.emplace_back(command("server"));
    if (!server_is_ready()) {
        say("the server did not get ready");
        watch_all(programs_, Clock::now(), [](const Process&) { return true; });
        return kFailed;
    }
    programs_.emplace_back(command("client"));
    interrupt_client();
    if (const int signal = options_.number("stop-server", 0); signal != 0) {
        watch(programs_, end_, [&] { return programs_.back().ending().has_value(); });
        programs_.front().kill_group(signal);
    }
    const bool in_time = watch_all(
        programs_, end_, [](const Process& program) { return !program.ending()->exited_with(0); });
    if (!in_time) {
        say("not finished in time");
    }
    const bool server = judge(programs_.front());
    const bool client = judge(programs_.back());
    return in_time && server && client && nothing_left_running(programs_) ? 0 : kFailed;
}

}  // namespace
}  // namespace driver

int main(int argc, char** argv) {
    ::signal(SIGPIPE, SIG_IGN);
    const driver::Options options(argc, argv, driver::known_options());
    if (options.one("server", "").empty() || options.one("client", "").empty()) {
        errno = EINVAL;
        driver::give_up("usage: foreign_pair [OPTIONS] --server COMMAND --client COMMAND");
    }
    return driver::ForeignPair(options).run();
}
