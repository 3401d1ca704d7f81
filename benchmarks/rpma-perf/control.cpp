// SPDX-License-Identifier: BSD-3-Clause
#include "control.hpp"

#include <endian.h>
#include <sys/resource.h>

#include <array>
#include <cstring>

#include "error.hpp"

namespace perf {
namespace {

constexpr std::string_view kMagic = "RPMAPERF";
constexpr std::uint32_t kMaxMessage = 1U << 20;

struct Greeting {
    std::array<char, 8> magic;
    std::uint32_t version;  // big endian
};
static_assert(sizeof(Greeting) == 12);

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

void Control::greet(int timeout_ms) const {
    Greeting greeting{};
    std::memcpy(greeting.magic.data(), kMagic.data(), kMagic.size());
    greeting.version = htobe32(kProtocolVersion);
    socket_.send_all(&greeting, sizeof(greeting), timeout_ms);
    Greeting other{};
    try {
        socket_.recv_all(&other, sizeof(other), timeout_ms);
    } catch (const Error& error) {
        const Address to = socket_.remote();
        fail("{} port {} does not greet as rpma-perf does: {}", to.host, to.port, error.what());
    }
    const Address to = socket_.remote();
    if (std::memcmp(other.magic.data(), kMagic.data(), kMagic.size()) != 0) {
        fail("{} port {} is something else than rpma-perf", to.host, to.port);
    }
    if (be32toh(other.version) != kProtocolVersion) {
        fail(
            "{} port {} speaks version {} of the protocol, this side version {}: use the same "
            "rpma-perf on both sides",
            to.host, to.port, be32toh(other.version), kProtocolVersion);
    }
}

void Control::send(const nlohmann::json& message) const {
    const std::string text = message.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    const std::uint32_t size = htobe32(static_cast<std::uint32_t>(text.size()));
    std::string frame(reinterpret_cast<const char*>(&size), sizeof(size));
    frame += text;
    socket_.send_all(frame.data(), frame.size(), kControlTimeoutMs);
}

nlohmann::json Control::receive(int timeout_ms) const {
    std::uint32_t size = 0;
    socket_.recv_all(&size, sizeof(size), timeout_ms);
    size = be32toh(size);
    if (size > kMaxMessage) {
        fail("the other side sends a message of {} bytes, which is too long", size);
    }
    std::string text(size, '\0');
    socket_.recv_all(text.data(), size, kControlTimeoutMs);
    nlohmann::json message = nlohmann::json::parse(text, nullptr, false);
    if (!message.is_object()) {
        fail("the other side sends something that is no message");
    }
    return message;
}

nlohmann::json Control::ask(const nlohmann::json& message, int timeout_ms) const {
    send(message);
    nlohmann::json answer = receive(timeout_ms);
    if (const auto error = answer.find("error"); error != answer.end() && error->is_string()) {
        fail("server: {}", error->get<std::string>());
    }
    return answer;
}

CpuTime own_cpu_time() {
    rusage usage{};
    (void)getrusage(RUSAGE_SELF, &usage);
    return {seconds_of(usage.ru_utime), seconds_of(usage.ru_stime)};
}

CpuTime operator-(const CpuTime& later, const CpuTime& earlier) {
    return {later.user - earlier.user, later.system - earlier.system};
}

void to_json(nlohmann::json& out, const CpuTime& time) {
    out = {{"user_s", time.user}, {"system_s", time.system}};
}

void from_json(const nlohmann::json& in, CpuTime& time) {
    time.user = in.at("user_s").get<double>();
    time.system = in.at("system_s").get<double>();
}

void to_json(nlohmann::json& out, const RemoteAccess& access) {
    out = {{"region", access.region},
           {"peer_config", access.peer_config},
           {"address", access.address},
           {"rkey", access.rkey},
           {"size", access.size}};
}

void from_json(const nlohmann::json& in, RemoteAccess& access) {
    access.region = in.at("region").get<std::vector<std::uint8_t>>();
    access.peer_config = in.at("peer_config").get<std::vector<std::uint8_t>>();
    access.address = in.at("address").get<std::uint64_t>();
    access.rkey = in.at("rkey").get<std::uint32_t>();
    access.size = in.at("size").get<std::uint64_t>();
}

}  // namespace perf
