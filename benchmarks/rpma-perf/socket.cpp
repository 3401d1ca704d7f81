// SPDX-License-Identifier: BSD-3-Clause
#include "socket.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>

#include "error.hpp"

namespace perf {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList resolve(const std::string& host, int port, bool passive) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
    addrinfo* list = nullptr;
    const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
    if (error != 0) {
        fail("address {}: {}", host, gai_strerror(error));
    }
    return {list, &freeaddrinfo};
}

int wait_for(int fd, short events, int timeout_ms) {
    pollfd one{fd, events, 0};
    int result = -1;
    do {
        result = poll(&one, 1, timeout_ms);
    } while (result < 0 && errno == EINTR);
    return result;
}

void set_option(int fd, int level, int option, int value) {
    (void)setsockopt(fd, level, option, &value, sizeof(value));
}

// A machine that vanished without a word is noticed within half a minute.
void tune(int fd) {
    constexpr int kIdle = 10;
    constexpr int kInterval = 5;
    constexpr int kProbes = 3;
    constexpr int kUnacknowledgedMs = 30'000;
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kIdle);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kInterval);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMs);
}

// 0 or errno of connecting a non-blocking socket.
int connect_within(int fd, const addrinfo& to, int timeout_ms) {
    if (::connect(fd, to.ai_addr, to.ai_addrlen) == 0) {
        return 0;
    }
    if (errno != EINPROGRESS) {
        return errno;
    }
    if (wait_for(fd, POLLOUT, timeout_ms) <= 0) {
        return ETIMEDOUT;
    }
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
}

int open_socket(const addrinfo& address) {
    return ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

Address name_of(const sockaddr_storage& address, socklen_t size) {
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    (void)getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(), host.size(),
                      port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
    std::string text = host.data();
    if (text.starts_with("::ffff:") && text.find('.') != std::string::npos) {
        text.erase(0, 7);  // an IPv4 peer of a socket for both
    }
    return {text, static_cast<int>(std::strtol(port.data(), nullptr, 10))};
}

}  // namespace

Socket Socket::connect(const std::string& host, int port, int timeout_ms) {
    const AddressList list = resolve(host, port, false);
    int error = 0;
    for (const addrinfo* at = list.get(); at != nullptr; at = at->ai_next) {
        UniqueFd fd(open_socket(*at));
        error = fd ? connect_within(fd.get(), *at, timeout_ms) : errno;
        if (error == 0) {
            tune(fd.get());
            Socket socket;
            socket.fd_ = std::move(fd);
            return socket;
        }
    }
    fail("cannot reach {} port {}: {}; is rpma-perf server running there?", host, port,
         errno_text(error));
}

Socket Socket::listen(const std::string& host, int port) {
    constexpr int kBacklog = 64;
    // Without an address: IPv6 and IPv4 by one socket, or IPv4 alone where there is no IPv6.
    const AddressList list = resolve(host.empty() ? "::" : host, port, true);
    int error = 0;
    for (const addrinfo* at = list.get(); at != nullptr; at = at->ai_next) {
        UniqueFd fd(open_socket(*at));
        set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
        if (at->ai_family == AF_INET6) {
            set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, host.empty() ? 0 : 1);
        }
        if (fd && bind(fd.get(), at->ai_addr, at->ai_addrlen) == 0 &&
            ::listen(fd.get(), kBacklog) == 0) {
            Socket socket;
            socket.fd_ = std::move(fd);
            return socket;
        }
        error = errno;
    }
    if (host.empty()) {
        return listen("0.0.0.0", port);
    }
    fail("cannot listen on {} port {}: {}", host, port, errno_text(error));
}

std::optional<Socket> Socket::accept(int timeout_ms) const {
    if (wait_for(fd(), POLLIN, timeout_ms) <= 0) {
        return std::nullopt;
    }
    const int accepted = accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (accepted < 0) {
        return std::nullopt;
    }
    tune(accepted);
    return Socket(accepted);
}

void Socket::send_all(const void* data, std::size_t size, int timeout_ms) const {
    const auto* from = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t sent = ::send(fd(), from, size, MSG_NOSIGNAL);
        if (sent > 0) {
            from += sent;
            size -= static_cast<std::size_t>(sent);
        } else if (errno != EAGAIN && errno != EINTR) {
            fail("the other side has gone: {}", errno_text());
        } else if (errno == EAGAIN && wait_for(fd(), POLLOUT, timeout_ms) == 0) {
            fail("the other side took nothing for {} s", timeout_ms / 1000);
        }
    }
}

void Socket::recv_all(void* data, std::size_t size, int timeout_ms) const {
    auto* to = static_cast<char*>(data);
    while (size > 0) {
        const ssize_t got = ::recv(fd(), to, size, 0);
        if (got > 0) {
            to += got;
            size -= static_cast<std::size_t>(got);
        } else if (got == 0) {
            fail("the other side has closed the connection");
        } else if (errno != EAGAIN && errno != EINTR) {
            fail("the other side has gone: {}", errno_text());
        } else if (errno == EAGAIN && wait_for(fd(), POLLIN, timeout_ms) == 0) {
            fail("the other side said nothing for {} s", timeout_ms / 1000);
        }
    }
}

bool Socket::readable(int timeout_ms) const {
    pollfd one{fd(), POLLIN, 0};
    return poll(&one, 1, timeout_ms) > 0;
}

bool Socket::is_gone() const {
    char byte = 0;
    const ssize_t got = ::recv(fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

void Socket::shut_down() const {
    (void)::shutdown(fd(), SHUT_RDWR);
}

Address Socket::local() const {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    (void)getsockname(fd(), reinterpret_cast<sockaddr*>(&address), &size);
    return name_of(address, size);
}

Address Socket::remote() const {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    (void)getpeername(fd(), reinterpret_cast<sockaddr*>(&address), &size);
    return name_of(address, size);
}

}  // namespace perf
