// SPDX-License-Identifier: BSD-3-Clause
#include "cm/address.hpp"

#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace fabric::cm {
namespace {

// UDP's "discard"; connecting a datagram socket wants some port.
constexpr std::uint16_t kAnyPort = 9;

template <typename Address>
Address& as(sockaddr_storage& address) {
    return *static_cast<Address*>(static_cast<void*>(&address));
}

template <typename Address>
const Address& as(const sockaddr_storage& address) {
    return *static_cast<const Address*>(static_cast<const void*>(&address));
}

class Socket {
public:
    Socket(int family, int type) : fd_(socket(family, type | SOCK_CLOEXEC, 0)) {}
    ~Socket() {
        if (fd_ >= 0)
            close(fd_);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    int fd() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }

private:
    int fd_;
};

int bind_to(const Socket& socket, const sockaddr_storage& address) {
    return bind(socket.fd(), generic(address), length_of(*generic(address))) == 0 ? 0 : errno;
}

int connect_to(const Socket& socket, const sockaddr_storage& address) {
    return connect(socket.fd(), generic(address), length_of(*generic(address))) == 0 ? 0 : errno;
}

sockaddr_storage local_of(const Socket& socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    getsockname(socket.fd(), static_cast<sockaddr*>(static_cast<void*>(&address)), &size);
    return address;
}

sockaddr_storage remote_of(const Socket& socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    getpeername(socket.fd(), static_cast<sockaddr*>(static_cast<void*>(&address)), &size);
    return address;
}

}  // namespace

socklen_t length_of(const sockaddr& address) {
    switch (address.sa_family) {
        case AF_INET:
            return sizeof(sockaddr_in);
        case AF_INET6:
            return sizeof(sockaddr_in6);
        default:
            return 0;
    }
}

sockaddr_storage stored(const sockaddr& address) {
    sockaddr_storage out{};
    std::memcpy(&out, &address, length_of(address));
    return out;
}

const sockaddr* generic(const sockaddr_storage& address) {
    return static_cast<const sockaddr*>(static_cast<const void*>(&address));
}

bool is_wildcard(const sockaddr_storage& address) {
    if (address.ss_family == AF_INET)
        return as<sockaddr_in>(address).sin_addr.s_addr == INADDR_ANY;
    return address.ss_family != AF_INET6 ||
           IN6_IS_ADDR_UNSPECIFIED(&as<sockaddr_in6>(address).sin6_addr);
}

std::uint16_t port_of(const sockaddr_storage& address) {
    if (address.ss_family == AF_INET)
        return ntohs(as<sockaddr_in>(address).sin_port);
    return address.ss_family == AF_INET6 ? ntohs(as<sockaddr_in6>(address).sin6_port)
                                         : std::uint16_t{0};
}

void set_port(sockaddr_storage& address, std::uint16_t port) {
    if (address.ss_family == AF_INET)
        as<sockaddr_in>(address).sin_port = htons(port);
    else if (address.ss_family == AF_INET6)
        as<sockaddr_in6>(address).sin6_port = htons(port);
}

ibv_gid gid_of(const sockaddr_storage& address) {
    ibv_gid gid{};
    if (address.ss_family == AF_INET) {
        gid.raw[10] = gid.raw[11] = 0xff;
        std::memcpy(gid.raw + 12, &as<sockaddr_in>(address).sin_addr, 4);
    } else if (address.ss_family == AF_INET6) {
        std::memcpy(gid.raw, &as<sockaddr_in6>(address).sin6_addr, 16);
    }
    return gid;
}

sockaddr_storage unmapped(const sockaddr_storage& address) {
    if (address.ss_family != AF_INET6 ||
        !IN6_IS_ADDR_V4MAPPED(&as<sockaddr_in6>(address).sin6_addr))
        return address;
    sockaddr_storage out{};
    auto& ipv4 = as<sockaddr_in>(out);
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = as<sockaddr_in6>(address).sin6_port;
    std::memcpy(&ipv4.sin_addr, as<sockaddr_in6>(address).sin6_addr.s6_addr + 12, 4);
    return out;
}

int choose_source(const sockaddr_storage& wanted, sockaddr_storage& destination,
                  sockaddr_storage& source) {
    const Socket probe(destination.ss_family, SOCK_DGRAM);
    if (probe.fd() < 0)
        return errno;
    if (!is_wildcard(wanted)) {
        sockaddr_storage from = wanted;
        set_port(from, 0);
        if (const int error = bind_to(probe, from); error != 0)
            return error;
    }
    sockaddr_storage to = destination;
    if (port_of(to) == 0)
        set_port(to, kAnyPort);
    if (const int error = connect_to(probe, to); error != 0)
        return error;
    source = local_of(probe);
    set_port(source, 0);
    if (is_wildcard(destination)) {
        const std::uint16_t port = port_of(destination);
        destination = remote_of(probe);
        set_port(destination, port);
    }
    return 0;
}

int Reservation::reserve(sockaddr_storage& address, bool only_ipv6) {
    Socket socket(address.ss_family, SOCK_STREAM);
    if (socket.fd() < 0)
        return errno;
    const int on = 1;
    // So that what uses the port can be bound to it while it is reserved, and again at once after
    // connections of it were closed.
    setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address.ss_family == AF_INET6) {
        const int only = only_ipv6 ? 1 : 0;
        setsockopt(socket.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
    }
    if (const int error = bind_to(socket, address); error != 0)
        return error;
    address = local_of(socket);
    release();
    fd_ = socket.release();
    return 0;
}

void Reservation::release() {
    if (fd_ >= 0)
        close(std::exchange(fd_, -1));
}

}  // namespace fabric::cm
