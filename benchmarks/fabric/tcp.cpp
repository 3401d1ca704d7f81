// SPDX-License-Identifier: BSD-3-Clause
#include "tcp.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "common/check.hpp"

namespace bench {
namespace {

sockaddr_in address_of(const char* text, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    CHECK_EQ(inet_pton(AF_INET, text, &address.sin_addr), 1);
    return address;
}

int require(int result, const char* what) {
    if (result < 0)
        FAIL("%s: %s", what, std::strerror(errno));
    return result;
}

int with_no_delay(int fd) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

}  // namespace

Socket::Socket(int fd) : fd_(fd) {}

Socket::Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Socket::~Socket() {
    if (fd_ >= 0)
        close(fd_);
}

void Socket::send_all(const std::byte* bytes, std::size_t size) const {
    while (size > 0) {
        const ssize_t sent = send(fd_, bytes, size, MSG_NOSIGNAL);
        require(static_cast<int>(sent), "send");
        bytes += sent;
        size -= static_cast<std::size_t>(sent);
    }
}

void Socket::receive_all(std::byte* bytes, std::size_t size) const {
    while (size > 0) {
        const ssize_t got = recv(fd_, bytes, size, 0);
        require(static_cast<int>(got), "recv");
        CHECK(got > 0);
        bytes += got;
        size -= static_cast<std::size_t>(got);
    }
}

Socket listen_on(const char* address, std::uint16_t* port) {
    Socket listener(require(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
    sockaddr_in bound = address_of(address, 0);
    socklen_t size = sizeof bound;
    require(bind(listener.fd(), reinterpret_cast<sockaddr*>(&bound), size), "bind");
    require(listen(listener.fd(), 1), "listen");
    require(getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&bound), &size), "getsockname");
    *port = ntohs(bound.sin_port);
    return listener;
}

Socket accept_from(const Socket& listener) {
    return Socket(
        with_no_delay(require(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC), "accept")));
}

Socket connect_to(const char* address, std::uint16_t port) {
    Socket socket(require(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
    const sockaddr_in peer = address_of(address, port);
    require(connect(socket.fd(), reinterpret_cast<const sockaddr*>(&peer), sizeof peer), "connect");
    with_no_delay(socket.fd());
    return socket;
}

void send_stream(const Socket& socket, std::size_t size, std::size_t pieces) {
    const std::vector<std::byte> buffer(size, std::byte{1});
    for (std::size_t i = 0; i < pieces; ++i)
        socket.send_all(buffer.data(), size);
    std::byte done{};
    socket.receive_all(&done, 1);
}

void receive_stream(const Socket& socket, std::size_t size, std::size_t pieces) {
    std::vector<std::byte> buffer(size);
    for (std::size_t i = 0; i < pieces; ++i)
        socket.receive_all(buffer.data(), size);
    socket.send_all(buffer.data(), 1);
}

void ping(const Socket& socket, std::size_t count) {
    std::array<std::byte, 8> word{};
    for (std::size_t i = 0; i < count; ++i) {
        socket.send_all(word.data(), word.size());
        socket.receive_all(word.data(), word.size());
    }
}

void pong(const Socket& socket, std::size_t count) {
    std::array<std::byte, 8> word{};
    for (std::size_t i = 0; i < count; ++i) {
        socket.receive_all(word.data(), word.size());
        socket.send_all(word.data(), word.size());
    }
}

}  // namespace bench
