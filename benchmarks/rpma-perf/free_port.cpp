// SPDX-License-Identifier: BSD-3-Clause
#include "free_port.hpp"

#include "error.hpp"
#include "socket.hpp"

namespace perf {

std::string on_free_port(const std::string& address, int first_port,
                         const std::function<std::string(const std::string&)>& listen) {
    constexpr int kTries = 64;
    std::string why;
    for (int i = 0; i < kTries; i++) {
        const int port = first_port != 0 ? first_port + i : Socket::listen(address, 0).local().port;
        if (port > 65535) {
            break;
        }
        why = listen(std::to_string(port));
        if (why.empty()) {
            return std::to_string(port);
        }
    }
    fail("cannot listen for data connections on {}: {}", address, why);
}

}  // namespace perf
