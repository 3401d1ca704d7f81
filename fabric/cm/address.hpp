// SPDX-License-Identifier: BSD-3-Clause
// Socket addresses: sizes, ports, wildcards, the GID of an address, the source the routing table
// chooses, and ports kept for an id.
#pragma once

#include <infiniband/verbs.h>
#include <sys/socket.h>

#include <cstdint>

namespace fabric::cm {

// Bytes of an IPv4 or IPv6 address; 0 for anything else.
socklen_t length_of(const sockaddr& address);
sockaddr_storage stored(const sockaddr& address);  // of a known family
const sockaddr* generic(const sockaddr_storage& address);

bool is_wildcard(const sockaddr_storage& address);
std::uint16_t port_of(const sockaddr_storage& address);  // host order; 0 for an unknown family
void set_port(sockaddr_storage& address, std::uint16_t port);

// RoCE's GID of an address: IPv4 addresses in their mapped form.
ibv_gid gid_of(const sockaddr_storage& address);
// ::ffff:a.b.c.d as the IPv4 address it means; others as they are.
sockaddr_storage unmapped(const sockaddr_storage& address);

// The address this machine talks to `destination` from, port 0; `wanted` restricts it unless it is
// a wildcard or has no family. No packet is sent. 0 or an errno (ENETUNREACH, EADDRNOTAVAIL, ...).
// A wildcard destination becomes the loopback address it means.
int choose_source(const sockaddr_storage& wanted, sockaddr_storage& destination,
                  sockaddr_storage& source);

// A port of the host's TCP port space kept for an id until it is used or given up.
class Reservation {
public:
    Reservation() = default;
    ~Reservation() { release(); }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

    // Port 0 means any free one. On success `address` has the port. 0 or an errno (EADDRINUSE,
    // EADDRNOTAVAIL, EACCES, ...).
    int reserve(sockaddr_storage& address, bool only_ipv6);
    void release();

private:
    int fd_ = -1;
};

}  // namespace fabric::cm
