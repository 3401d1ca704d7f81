// SPDX-License-Identifier: BSD-3-Clause
// The control connection between `run` and `server`: TCP beside the connections that are measured.
// Both sides first send a greeting with the version of the protocol; then the client asks and the
// server answers, each message a length (4 bytes, big endian) and JSON. Since the operating system
// closes the connection of a process that dies, neither side ever waits for a dead partner.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "link.hpp"
#include "socket.hpp"

namespace perf {

// Changes whenever the two sides of different versions would misunderstand each other.
inline constexpr std::uint32_t kProtocolVersion = 1;
inline constexpr int kControlTimeoutMs = 20'000;

// What the client asks for, in the member "do" of a message.
namespace request {
inline constexpr std::string_view kDescribe = "describe";  // the machine and the target memory
inline constexpr std::string_view kOpen = "open";          // "case": get ready for it
inline constexpr std::string_view kStart = "start";        // all connections are made: begin
inline constexpr std::string_view kCpu = "cpu";            // CPU time used so far
inline constexpr std::string_view kClose = "close";        // the end of the case
}  // namespace request

class Control {
public:
    Control() = default;
    explicit Control(Socket socket) : socket_(std::move(socket)) {}

    // Sends the greeting and checks that of the other side. Throws Error.
    void greet(int timeout_ms) const;

    void send(const nlohmann::json& message) const;
    [[nodiscard]] nlohmann::json receive(int timeout_ms) const;
    // Client: asks, waits for the answer; an answer with "error" becomes Error.
    [[nodiscard]] nlohmann::json ask(const nlohmann::json& message,
                                     int timeout_ms = kControlTimeoutMs) const;

    [[nodiscard]] const Socket& socket() const { return socket_; }

private:
    Socket socket_;
};

struct CpuTime {
    double user = 0;  // seconds
    double system = 0;
    [[nodiscard]] double total() const { return user + system; }
};
CpuTime own_cpu_time();
CpuTime operator-(const CpuTime& later, const CpuTime& earlier);

void to_json(nlohmann::json& out, const CpuTime& time);
void from_json(const nlohmann::json& in, CpuTime& time);
void to_json(nlohmann::json& out, const RemoteAccess& access);
void from_json(const nlohmann::json& in, RemoteAccess& access);

}  // namespace perf
