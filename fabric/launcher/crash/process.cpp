// SPDX-License-Identifier: BSD-3-Clause
#include "crash/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace launcher::crash {
namespace {

constexpr auto kStep = std::chrono::milliseconds(2);
constexpr auto kPatience = std::chrono::seconds(5);
constexpr mode_t kMode = 0666;  // less the umask
constexpr std::size_t kMaxGroups = 256;

// Groups to be killed by the handler of a signal.
std::array<std::atomic<int>, kMaxGroups> g_groups{};

void remember(int from, int to) {
    for (auto& slot : g_groups) {
        int expected = from;
        if (slot.compare_exchange_strong(expected, to)) {
            return;
        }
    }
}

std::atomic<int> g_signal{0};

// What is running ends, and then everything does in its order. A second signal does not wait for
// that.
void on_signal(int number) {
    for (auto& slot : g_groups) {
        if (const int group = slot.load(); group > 0) {
            kill(-group, SIGKILL);
        }
    }
    if (g_signal.exchange(number) != 0) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

int parent_of(const std::string& process) {
    std::ifstream file("/proc/" + process + "/stat");
    std::string line;
    std::getline(file, line);
    const std::size_t end = line.rfind(')');
    int parent = 0;
    char state = 0;
    std::istringstream rest(end == std::string::npos ? "" : line.substr(end + 1));
    return rest >> state >> parent ? parent : 0;
}

std::vector<int> children() {
    std::vector<int> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") == std::string::npos &&
            parent_of(name) == getpid()) {
            found.push_back(std::stoi(name));
        }
    }
    return found;
}

void redirect(const std::string& file, int to) {
    const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND, kMode);
    if (fd >= 0) {
        dup2(fd, to);
        close(fd);
    }
}

[[noreturn]] void become(const std::string& command, const std::vector<char*>& environment,
                         const std::string& output, const std::string& errors) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    redirect("/dev/null", STDIN_FILENO);
    redirect(output, STDOUT_FILENO);
    redirect(errors.empty() ? output : errors, STDERR_FILENO);
    const std::array<const char*, 4> arguments = {"sh", "-c", command.c_str(), nullptr};
    execve("/bin/sh", const_cast<char* const*>(arguments.data()), environment.data());
    _exit(127);
}

// The variables of this process, replaced where there are new ones.
std::vector<std::string> merged(const Environment& more) {
    std::vector<std::string> out;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string text = *variable;
        const std::string name = text.substr(0, text.find('='));
        bool replaced = false;
        for (const auto& [other, value] : more) {
            replaced = replaced || other == name;
        }
        if (!replaced) {
            out.push_back(text);
        }
    }
    for (const auto& [name, value] : more) {
        out.push_back(fmt::format("{}={}", name, value));
    }
    return out;
}

}  // namespace

Process::Process(const std::string& command, const Environment& environment,
                 const std::string& output, const std::string& errors) {
    auto variables = merged(environment);
    std::vector<char*> pointers;
    pointers.reserve(variables.size() + 1);
    for (std::string& variable : variables) {
        pointers.push_back(variable.data());
    }
    pointers.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
        become(command, pointers, output, errors);
    }
    if (pid_ > 0) {
        setpgid(pid_, pid_);
        remember(0, pid_);
    } else {
        status_ = -1;
    }
}

Process::~Process() {
    kill_group();
    if (pid_ > 0) {
        wait(kPatience);
        reap_group();
        remember(pid_, 0);
    }
}

// What the command had started is ours now, since its parents are dead.
void Process::reap_group() const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    int got = 0;
    while ((got = waitpid(-pid_, nullptr, WNOHANG)) >= 0 &&
           std::chrono::steady_clock::now() < end) {
        if (got == 0) {
            std::this_thread::sleep_for(kStep);
        }
    }
}

std::optional<int> Process::wait(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    for (;;) {
        int status = 0;
        if (interrupted()) {
            kill_group();
        }
        if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) {
            status_ = status;
        }
        if (status_ || std::chrono::steady_clock::now() >= end) {
            return status_;
        }
        std::this_thread::sleep_for(kStep);
    }
}

void Process::kill_group() {
    if (pid_ > 0) {
        kill(-pid_, SIGKILL);
    }
}

bool interrupted() {
    return g_signal != 0;
}

void end_children() {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    for (auto left = children(); !left.empty() && std::chrono::steady_clock::now() < end;
         left = children()) {
        for (const int child : left) {
            kill(child, SIGKILL);
            waitpid(child, nullptr, 0);
        }
    }
    if (interrupted()) {
        signal(g_signal, SIG_DFL);
        raise(g_signal);
    }
}

void own_children() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        signal(number, on_signal);
    }
}

}  // namespace launcher::crash
