// SPDX-License-Identifier: BSD-3-Clause
#include "crash/ports.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>

namespace launcher::crash {
namespace {

constexpr unsigned kFirst = 10000;
constexpr unsigned kCount = 20000;
constexpr const char* kListening = "0A";

bool can_be_bound(std::uint16_t port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    const bool free = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(fd);
    return free;
}

// Lines such as "  0: 0100007F:1F90 00000000:0000 0A ...".
bool listened_on(const char* table, std::uint16_t port) {
    std::ifstream lines(table);
    std::string number;
    std::string local;
    std::string remote;
    std::string state;
    std::string rest;
    std::getline(lines, rest);
    while (lines >> number >> local >> remote >> state && std::getline(lines, rest)) {
        const std::size_t colon = local.rfind(':');
        if (state == kListening && colon != std::string::npos &&
            std::stoul(local.substr(colon + 1), nullptr, 16) == port) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::uint16_t free_port() {
    static std::atomic<unsigned> next{static_cast<unsigned>(getpid()) * 97};
    for (unsigned tries = 0; tries < kCount; ++tries) {
        const auto port = static_cast<std::uint16_t>(kFirst + next++ % kCount);
        if (can_be_bound(port)) {
            return port;
        }
    }
    return 0;
}

bool listened_on(std::uint16_t port) {
    return listened_on("/proc/net/tcp", port) || listened_on("/proc/net/tcp6", port);
}

}  // namespace launcher::crash
