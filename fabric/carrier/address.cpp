// SPDX-License-Identifier: BSD-3-Clause
#include "carrier/address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <array>
#include <cstring>

#include "carrier/tunables.hpp"

namespace fabric::carrier {
namespace {

const sockaddr_in& v4(const sockaddr_storage& address) {
    return reinterpret_cast<const sockaddr_in&>(address);
}

const sockaddr_in6& v6(const sockaddr_storage& address) {
    return reinterpret_cast<const sockaddr_in6&>(address);
}

void set_option(int fd, int level, int name, int value) {
    setsockopt(fd, level, name, &value, sizeof value);
}

}  // namespace

socklen_t length_of(const sockaddr_storage& address) {
    switch (address.ss_family) {
        case AF_INET:
            return sizeof(sockaddr_in);
        case AF_INET6:
            return sizeof(sockaddr_in6);
        default:
            return 0;
    }
}

std::uint16_t port_of(const sockaddr_storage& address) {
    return ntohs(address.ss_family == AF_INET ? v4(address).sin_port : v6(address).sin6_port);
}

bool is_wildcard(const sockaddr_storage& address) {
    if (address.ss_family == AF_INET)
        return v4(address).sin_addr.s_addr == htonl(INADDR_ANY);
    return address.ss_family != AF_INET6 || IN6_IS_ADDR_UNSPECIFIED(&v6(address).sin6_addr) != 0;
}

bool same_endpoint(const sockaddr_storage& a, const sockaddr_storage& b) {
    if (a.ss_family != b.ss_family || port_of(a) != port_of(b))
        return false;
    if (a.ss_family == AF_INET)
        return v4(a).sin_addr.s_addr == v4(b).sin_addr.s_addr;
    return std::memcmp(&v6(a).sin6_addr, &v6(b).sin6_addr, sizeof(in6_addr)) == 0;
}

std::string text_of(const sockaddr_storage& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.ss_family == AF_INET)
        inet_ntop(AF_INET, &v4(address).sin_addr, text.data(), text.size());
    else if (address.ss_family == AF_INET6)
        inet_ntop(AF_INET6, &v6(address).sin6_addr, text.data(), text.size());
    else
        return "?";
    const std::string port = std::to_string(port_of(address));
    return address.ss_family == AF_INET ? text.data() + (":" + port)
                                        : "[" + std::string(text.data()) + "]:" + port;
}

sockaddr_storage local_of(int fd) {
    sockaddr_storage out{};
    socklen_t size = sizeof out;
    getsockname(fd, reinterpret_cast<sockaddr*>(&out), &size);
    return out;
}

sockaddr_storage peer_of(int fd) {
    sockaddr_storage out{};
    socklen_t size = sizeof out;
    getpeername(fd, reinterpret_cast<sockaddr*>(&out), &size);
    return out;
}

Descriptor make_stream_socket(int family) {
    return Descriptor::make(
        [family] { return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); });
}

void tune(int fd) {
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepaliveIdleSeconds);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kKeepaliveIntervalSeconds);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, kKeepaliveProbes);
}

}  // namespace fabric::carrier
