// SPDX-License-Identifier: BSD-3-Clause
#include "ask.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "findings.hpp"
#include "memory/persistence/control.hpp"

namespace launcher {
namespace {

constexpr int kPatience = 10;  // seconds

class Socket {
public:
    Socket() : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
    ~Socket() {
        if (fd_ >= 0) {
            close(fd_);
        }
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    int get() const { return fd_; }

private:
    int fd_;
};

bool connect_to(int fd, int process) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const int length = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
                                     fabric::memory::persistence::kControlName, process);
    const auto size =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<unsigned>(length));
    const timeval patience = {kPatience, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return connect(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0;
}

int number_of(const std::string& text) {
    int value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && *rest == '\0' && value > 0 ? value : 0;
}

Result<std::string> read_file(const std::string& name) {
    std::ifstream file(name);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
        return failure(kExitFailure,
                       fmt::format("{}: is neither the number of a process nor a file", name));
    }
    return text.str();
}

}  // namespace

Result<std::string> ask(int process, const std::string& request) {
    const Socket socket;
    if (!connect_to(socket.get(), process)) {
        return failure(kExitFailure,
                       fmt::format("process {} keeps no account of persistent memory: {}; was it "
                                   "started with --platform, and has it registered a mapped file?",
                                   process, std::strerror(errno)));
    }
    const std::string line = request + "\n";
    if (send(socket.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0) {
        return failure(kExitFailure, fmt::format("process {}: {}", process, std::strerror(errno)));
    }
    std::string answer;
    std::array<char, 4096> piece{};
    ssize_t got = 0;
    while ((got = recv(socket.get(), piece.data(), piece.size(), 0)) > 0) {
        answer.append(piece.data(), static_cast<std::size_t>(got));
    }
    return answer;
}

Result<int> print_report(const std::string& process_or_file, bool json) {
    const int process = number_of(process_or_file);
    const auto text = process != 0 ? ask(process, "report json") : read_file(process_or_file);
    if (!text) {
        return tl::unexpected(text.error());
    }
    const auto report = nlohmann::json::parse(*text, nullptr, false);
    if (report.is_discarded() || !report.contains("occasion")) {
        return failure(kExitFailure,
                       fmt::format("{}: is no report as JSON (--report FILE.json writes one)",
                                   process_or_file));
    }
    try {
        fmt::print("{}", json ? *text : text_of(report));
        return clean(report) ? 0 : kExitFindings;
    } catch (const nlohmann::json::exception& error) {
        return failure(kExitFailure,
                       fmt::format("{}: is no report as JSON: {}", process_or_file, error.what()));
    }
}

Result<void> fail_power(const std::string& process, std::uint64_t seed) {
    const int number = number_of(process);
    if (number == 0) {
        return failure(kExitFailure, fmt::format("{}: is no number of a process", process));
    }
    const auto answer = ask(number, fmt::format("power-fail {}", seed));
    if (!answer) {
        return tl::unexpected(answer.error());
    }
    return {};
}

}  // namespace launcher
