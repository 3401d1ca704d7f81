// SPDX-License-Identifier: BSD-3-Clause
#include "driver/process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "driver/report.hpp"

extern "C" {  // glibc 2.36 forgot this in the header
#include <sys/pidfd.h>
}

namespace driver {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> list;
    list.reserve(words.size() + 1);
    for (std::string& word : words) {
        list.push_back(word.data());
    }
    list.push_back(nullptr);
    return list;
}

// Between fork and exec: only calls that are safe there. All memory was prepared before.
[[noreturn]] void become(const Command& command, char* const* words, char* const* additions,
                         int output) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    for (const int fd : command.descriptors) {
        ::fcntl(fd, F_SETFD, 0);
    }
    for (; *additions != nullptr; ++additions) {
        ::putenv(*additions);
    }
    if (::chdir(command.directory.c_str()) == 0) {
        ::execvp(words[0], words);
    }
    ::dprintf(STDERR_FILENO, "can not start %s: errno %d\n", words[0], errno);
    ::_exit(127);
}

std::array<UniqueFd, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        give_up("pipe");
    }
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

bool Ending::exited_with(int code) const {
    return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

bool Ending::killed_by(int signal) const {
    return WIFSIGNALED(status) && WTERMSIG(status) == signal;
}

std::string Ending::text() const {
    if (WIFSIGNALED(status)) {
        return "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
               ::strsignal(WTERMSIG(status)) + ")";
    }
    return "exited with " + std::to_string(WEXITSTATUS(status));
}

Process::Process(const Command& command) : name_(command.name) {
    Command copy = command;
    const std::vector<char*> words = pointers(copy.words);
    const std::vector<char*> additions = pointers(copy.environment);
    auto [read_end, write_end] = make_pipe();
    pid_ = ::fork();
    if (pid_ < 0) {
        give_up("fork");
    }
    if (pid_ == 0) {
        become(command, words.data(), additions.data(), write_end.get());
    }
    ::setpgid(pid_, pid_);  // in both processes, so that neither has to wait for the other
    ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
    output_fd_ = std::move(read_end);
    exit_fd_ = UniqueFd(::pidfd_open(pid_, 0));
    if (!exit_fd_.valid()) {
        give_up("pidfd_open");
    }
}

Process::~Process() {
    if (!exit_fd_.valid() && ending_ == std::nullopt) {
        return;  // moved from
    }
    kill_group(SIGKILL);
    if (ending_ == std::nullopt) {
        int status = 0;
        ::waitpid(pid_, &status, 0);
    }
}

void Process::read_output() {
    std::array<char, 16384> part{};
    ssize_t size = 0;
    while ((size = ::read(output_fd_.get(), part.data(), part.size())) > 0) {
        output_.append(part.data(), static_cast<std::size_t>(size));
        print_lines(false);
    }
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
        output_fd_.reset();
        print_lines(true);
    }
}

void Process::print_lines(bool all) {
    std::size_t end = 0;
    while ((end = output_.find('\n', printed_)) != std::string::npos ||
           (all && printed_ < output_.size())) {
        end = std::min(end, output_.size());
        std::printf("[%s] %.*s\n", name_.c_str(), static_cast<int>(end - printed_),
                    output_.data() + printed_);
        printed_ = end + 1;
    }
    std::fflush(stdout);
}

void Process::collect() {
    int status = 0;
    if (::waitpid(pid_, &status, 0) != pid_) {
        give_up("waitpid");
    }
    ending_ = Ending{status};
    exit_fd_.reset();
}

void Process::kill_group(int signal) const {
    ::kill(-pid_, signal);
}

bool Process::group_is_empty() const {
    return ::kill(-pid_, 0) != 0 && errno == ESRCH;
}

namespace {

std::string first_line(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

}  // namespace

void Process::print_state() const {
    std::error_code error;
    const std::filesystem::path tasks = "/proc/" + std::to_string(pid_) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
        say("%s: thread %s (%s) is in %s, system call %s", name_.c_str(),
            task.path().filename().c_str(), first_line(task.path() / "comm").c_str(),
            first_line(task.path() / "wchan").c_str(), first_line(task.path() / "syscall").c_str());
    }
}

}  // namespace driver
