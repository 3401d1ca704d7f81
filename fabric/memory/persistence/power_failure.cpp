// SPDX-License-Identifier: BSD-3-Clause
// Other threads of the process go on storing into the memory until they are stopped, and none of
// them can be stopped from inside. So a forked child does it: it stops its parent, writes what
// survives, and kills it. Between fork and the end the child calls nothing that takes a lock.
#include "memory/persistence/power_failure.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace fabric::memory::persistence {

namespace {

constexpr mode_t kReportMode = 0666;  // less the umask
int g_parent = 0;                     // in the child

constexpr int kPatience = 5000;  // milliseconds until a thread in the kernel must have stopped

void sleep_a_millisecond() {
    const timespec pause = {0, 1'000'000};
    nanosleep(&pause, nullptr);
}

struct Entry {  // of getdents64
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t length;
    std::uint8_t type;
    char name[256];
};

// The state letter of a thread: behind the last parenthesis of its stat.
char state_of(const char* tasks, const char* thread) {
    std::array<char, 320> path{};
    std::snprintf(path.data(), path.size(), "%s/%s/stat", tasks, thread);
    std::array<char, 512> text{};
    const int fd = open(path.data(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 'X';
    }
    const ssize_t size = read(fd, text.data(), text.size() - 1);
    close(fd);
    const char* const end = size > 0 ? std::strrchr(text.data(), ')') : nullptr;
    return end == nullptr ? 'X' : end[2];
}

// Every thread is stopped or gone. Where /proc is not mounted nobody knows.
bool all_stopped(int process) {
    std::array<char, 32> tasks{};
    std::snprintf(tasks.data(), tasks.size(), "/proc/%d/task", process);
    const int directory = open(tasks.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
        return false;
    }
    bool stopped = true;
    alignas(8) std::array<char, 8192> entries{};
    long got = 0;
    while ((got = syscall(SYS_getdents64, directory, entries.data(), entries.size())) > 0) {
        for (long at = 0; at < got;) {
            const auto* const entry = reinterpret_cast<const Entry*>(entries.data() + at);
            const char state = entry->name[0] == '.' ? 'T' : state_of(tasks.data(), entry->name);
            stopped = stopped && std::strchr("TtZX", state) != nullptr;
            at += entry->length;
        }
    }
    close(directory);
    return stopped;
}

void stop(int process) {
    kill(process, SIGSTOP);
    for (int waited = 0; waited < kPatience && !all_stopped(process); ++waited) {
        sleep_a_millisecond();
    }
}

// Sockets and files of the parent must not live on in the child.
void close_everything() {
    syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0U);
}

struct Names {
    std::array<char, 4096> report{};
    std::array<char, 4096> unfinished{};
    bool json = false;
};

void write_files(const Situation& now, const PowerFailure& how, const Names& names) {
    const bool wanted = names.report[0] != '\0';
    const int fd = wanted ? open(names.unfinished.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                                 kReportMode)
                          : STDERR_FILENO;
    Writer out(fd < 0 ? STDERR_FILENO : fd);
    report_power_failure(now, how, out, names.json);
    out.flush();
    if (wanted && out.error() != 0) {
        Writer(STDERR_FILENO)
            .print("rpma-fabric: cannot write all of the report: error %d (no room: %d)\n",
                   out.error(), ENOSPC);
    }
    if (wanted && fd >= 0 && std::strcmp(names.unfinished.data(), names.report.data()) != 0) {
        rename(names.unfinished.data(), names.report.data());
    }
}

void say(const Situation& now, std::uint64_t seed) {
    Writer out(STDERR_FILENO);
    out.print("rpma-fabric[%d]: power failure %s, after %" PRIu64 " events, seed %" PRIu64 "\n",
              getppid(), now.occasion, now.events, seed);
}

// Nobody could continue the parent, which is stopped.
void on_fault(int) {
    Writer(STDERR_FILENO).add("rpma-fabric: a file became shorter while the power failed\n");
    kill(g_parent, SIGKILL);
    _exit(1);
}

void watch_faults(int parent) {
    g_parent = parent;
    struct sigaction action {};
    action.sa_handler = on_fault;
    sigset_t faults;
    sigemptyset(&faults);
    for (const int number : {SIGBUS, SIGSEGV}) {
        sigaction(number, &action, nullptr);
        sigaddset(&faults, number);
    }
    pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
}

[[noreturn]] void finish_parent(int parent, const Situation& now, const PowerFailure& how,
                                const Names& names) {
    close_everything();
    watch_faults(parent);
    stop(parent);
    say(now, how.seed);
    write_files(now, how, names);
    kill(parent, SIGKILL);
    _exit(0);
}

}  // namespace

void fail_power(const Situation& now, const PowerFailure& how, const std::string& file) {
    static Names names;  // too large for the stack of a thread
    names.json = file.ends_with(".json");
    std::snprintf(names.report.data(), names.report.size(), "%s", file.c_str());
    std::snprintf(names.unfinished.data(), names.unfinished.size(), "%s",
                  unfinished_name(file).c_str());
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    const int parent = getpid();
    const int child = _Fork();
    if (child == 0) {
        finish_parent(parent, now, how, names);
    }
    if (child < 0) {  // then as well as it goes
        write_files(now, how, names);
        kill(parent, SIGKILL);
    }
    for (;;) {
        pause();
    }
}

}  // namespace fabric::memory::persistence
