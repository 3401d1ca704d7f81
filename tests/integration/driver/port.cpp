// SPDX-License-Identifier: BSD-3-Clause
#include "driver/port.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "driver/report.hpp"

namespace driver {
namespace {

constexpr int kFirst = 20000;
constexpr int kCount = 12000;  // ends below the range that the kernel hands out by itself

// An abstract socket name is a lock that the kernel gives back whatever happens to its holder, and
// it belongs to a network name space as ports do.
UniqueFd lock_name(int number) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const int length =
        std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "rpma-test-port-%d", number);
    UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                             static_cast<std::size_t>(length));
    if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&name), size) != 0) {
        return {};
    }
    return fd;
}

// A foreign program may sit on the port.
bool is_free(int number) {
    const UniqueFd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(static_cast<std::uint16_t>(number));
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return ::bind(fd.get(), reinterpret_cast<sockaddr*>(&any), sizeof any) == 0;
}

}  // namespace

Port::Port() {
    const int start = static_cast<int>(::getpid()) * 7;
    for (int attempt = 0; attempt < kCount; ++attempt) {
        number_ = kFirst + (start + attempt) % kCount;
        lock_ = lock_name(number_);
        if (lock_.valid() && is_free(number_)) {
            return;
        }
    }
    give_up("no free port");
}

}  // namespace driver
