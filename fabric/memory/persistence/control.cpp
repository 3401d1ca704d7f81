// SPDX-License-Identifier: BSD-3-Clause
#include "memory/persistence/control.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "log.hpp"
#include "memory/persistence/tracker.hpp"

namespace fabric::memory::persistence {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBacklog = 4;
constexpr int kPatience = 1000;  // milliseconds for a request to be read or an answer to be taken

struct Control {
    int socket = -1;
    std::optional<Clock::time_point> power_fails;
};

int listen_for(int process) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const int length =
        std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, kControlName, process);
    const auto size =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<unsigned>(length));
    if (fd >= 0 && (bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
                    listen(fd, kBacklog) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

// Only the user of this process, or root, may ask.
bool may_ask(int fd) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

void answer(int fd, std::string_view request) {
    Tracker& tracker = Tracker::instance();
    const auto guard = tracker.lock();
    if (request == "report" || request == "report json") {
        tracker.follow_files();
        Writer out(fd);
        report(tracker.situation("on demand"), out, request.ends_with("json"));
        return;
    }
    constexpr std::string_view kFail = "power-fail ";
    if (request.starts_with(kFail)) {
        if (const auto seed = parse_number(request.substr(kFail.size()))) {
            tracker.fail_power("on demand", *seed);
        }
    }
    Writer(fd).add("error: unknown request\n");
}

void serve(int fd) {
    const timeval patience = {kPatience / 1000, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    std::array<char, 64> line{};
    const ssize_t got = may_ask(fd) ? recv(fd, line.data(), line.size(), 0) : 0;
    if (got > 0) {
        const std::string_view request(line.data(), static_cast<std::size_t>(got));
        answer(fd, request.substr(0, request.find('\n')));
    }
    close(fd);
}

int milliseconds_left(const Control& control) {
    if (!control.power_fails) {
        return -1;
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*control.power_fails - Clock::now());
    return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

void* run(void* argument) {
    const auto& control = *static_cast<Control*>(argument);
    for (;;) {
        pollfd asked = {control.socket, POLLIN, 0};
        const int left = milliseconds_left(control);
        const int ready = left == 0 ? 0 : poll(&asked, control.socket < 0 ? 0 : 1, left);
        if (ready < 0 && errno != EINTR) {
            return nullptr;
        }
        if (ready == 0 && milliseconds_left(control) == 0) {
            Tracker& tracker = Tracker::instance();
            // NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores): it is held for ever
            const auto guard = tracker.lock();
            tracker.fail_power("at its time", settings().seed);
        }
        const int fd = ready > 0 ? accept4(control.socket, nullptr, nullptr, SOCK_CLOEXEC) : -1;
        if (fd >= 0) {
            serve(fd);
        } else if (ready > 0 && errno != EINTR && errno != ECONNABORTED) {
            return nullptr;  // the program has closed what it does not know
        }
    }
}

}  // namespace

// The thread takes no signals: they are the program's.
void start_control(int power_fails_after) {
    static Control control;
    control.socket = listen_for(getpid());
    if (power_fails_after >= 0) {
        control.power_fails = Clock::now() + std::chrono::milliseconds(power_fails_after);
    }
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread{};
    const int error = pthread_create(&thread, nullptr, run, &control);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error != 0) {
        log(LogLevel::Error, "cannot start the thread that answers rpma-fabric report: %s",
            std::strerror(error));
        return;
    }
    pthread_detach(thread);
}

}  // namespace fabric::memory::persistence
