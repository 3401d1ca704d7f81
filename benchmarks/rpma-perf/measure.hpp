// SPDX-License-Identifier: BSD-3-Clause
// Measures cases against a server.
#pragma once

#include <functional>
#include <string>

#include "results.hpp"

namespace perf {

struct Timing {
    double warm_up_s = 0.1;
    double duration_s = 0.5;
    std::uint64_t operations = 0;  // instead of the duration
};

// The client's end of a session with a server.
class Client {
public:
    Client(const std::string& host, int port);

    [[nodiscard]] nlohmann::json describe_target() const;
    // The numeric address that data connections go to as well.
    [[nodiscard]] std::string address() const { return control_.socket().remote().host; }

    // Called every tenth of a second or so with operations done so far and seconds since the start.
    using Watch = std::function<void(std::uint64_t operations, double seconds)>;

    // One run of a case. What is cut short by Ctrl-C or a failure is not complete; `failure` then
    // says why, and is empty after Ctrl-C.
    Run measure(const Case& point, const Timing& timing, const Watch& watch, Histogram& latency,
                std::string& failure);

private:
    Control control_;
};

}  // namespace perf
