// SPDX-License-Identifier: BSD-3-Clause
#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <ctime>

#include "clock.hpp"
#include "error.hpp"

namespace perf {
namespace {

constexpr int kCannotStart = 127;
constexpr int kEndMs = 5000;
constexpr int kLookMs = 10;

void pause_ms(int ms) {
    const timespec time{0, ms * 1'000'000L};
    (void)nanosleep(&time, nullptr);
}

// In the child, between fork and exec.
[[noreturn]] void become(pid_t parent, int output, char* const* words) {
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    (void)setpgid(0, 0);
    if (getppid() == parent && dup2(output, STDOUT_FILENO) >= 0) {
        execv(words[0], words);
    }
    _exit(kCannotStart);
}

}  // namespace

std::vector<char*> c_strings(std::vector<std::string>& words) {
    std::vector<char*> out;
    out.reserve(words.size() + 1);
    for (std::string& word : words) {
        out.push_back(word.data());
    }
    out.push_back(nullptr);
    return out;
}

Child::Child(std::vector<std::string> words) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        fail("cannot make a pipe: {}", errno_text());
    }
    output_.reset(ends[0]);
    const UniqueFd write_end(ends[1]);
    const std::vector<char*> arguments = c_strings(words);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) {
        fail("cannot start the server: {}", errno_text());
    }
    if (pid_ == 0) {
        become(parent, write_end.get(), arguments.data());
    }
}

Child::~Child() {
    if (pid_ <= 0) {
        return;
    }
    (void)kill(pid_, SIGTERM);
    for (int waited = 0; waited < kEndMs; waited += kLookMs) {
        if (has_ended()) {
            return;
        }
        pause_ms(kLookMs);
    }
    (void)kill(pid_, SIGKILL);
    (void)waitpid(pid_, nullptr, 0);
}

bool Child::has_ended() {
    return waitpid(pid_, nullptr, WNOHANG) != 0;
}

std::string Child::read_line(int timeout_ms) {
    std::string line;
    const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(timeout_ms) * 1'000'000U;
    while (now_ns() < end && (line.empty() || line.back() != '\n')) {
        pollfd one{output_.get(), POLLIN, 0};
        char byte = 0;
        if (poll(&one, 1, kLookMs) <= 0) {
            continue;
        }
        if (read(output_.get(), &byte, 1) != 1) {
            break;
        }
        line += byte;
    }
    return line;
}

}  // namespace perf
