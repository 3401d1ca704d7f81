// SPDX-License-Identifier: BSD-3-Clause
// TCP sockets with a time limit on everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "unique_fd.hpp"

namespace perf {

struct Address {
    std::string host;  // numeric
    int port = 0;
};

class Socket {
public:
    Socket() = default;

    // Throw Error.
    static Socket connect(const std::string& host, int port, int timeout_ms);
    static Socket listen(const std::string& host, int port);

    // The next connection, or none within the time.
    [[nodiscard]] std::optional<Socket> accept(int timeout_ms) const;

    // All of it, or Error. `timeout_ms` is for each step in which nothing moves.
    void send_all(const void* data, std::size_t size, int timeout_ms) const;
    void recv_all(void* data, std::size_t size, int timeout_ms) const;

    // Whether something, or the end of the stream, can be received.
    [[nodiscard]] bool readable(int timeout_ms) const;
    // Whether the other side has closed the connection or vanished.
    [[nodiscard]] bool is_gone() const;
    // Ends both directions; whoever waits on the socket wakes up.
    void shut_down() const;

    [[nodiscard]] Address local() const;
    [[nodiscard]] Address remote() const;
    [[nodiscard]] int fd() const { return fd_.get(); }
    explicit operator bool() const { return static_cast<bool>(fd_); }

private:
    explicit Socket(int fd) : fd_(fd) {}
    UniqueFd fd_;
};

}  // namespace perf
