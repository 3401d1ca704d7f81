// SPDX-License-Identifier: BSD-3-Clause
// What the fabric is compared with: a plain TCP connection on the same loopback.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

namespace bench {

class Socket {
public:
    explicit Socket(int fd);
    ~Socket();
    Socket(Socket&& other) noexcept;
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    int fd() const { return fd_; }
    void send_all(const std::byte* bytes, std::size_t size) const;
    void receive_all(std::byte* bytes, std::size_t size) const;

private:
    int fd_;
};

// Listens on an address of this machine, on a free port.
Socket listen_on(const char* address, std::uint16_t* port);
Socket accept_from(const Socket& listener);
Socket connect_to(const char* address, std::uint16_t port);

// One side of `pieces` writes of `size` bytes each, answered by one byte at the end.
void send_stream(const Socket& socket, std::size_t size, std::size_t pieces);
void receive_stream(const Socket& socket, std::size_t size, std::size_t pieces);

// One side of `count` times 8 bytes there and back.
void ping(const Socket& socket, std::size_t count);
void pong(const Socket& socket, std::size_t count);

}  // namespace bench
