// SPDX-License-Identifier: BSD-3-Clause
// librpma cannot be asked which port it listens on, so the port is chosen here.
#pragma once

#include <functional>
#include <string>

namespace perf {

// Calls listen(port) with ports of `address` until it returns an empty string (else: why not).
// Tries those that the system says are free, or, with `first_port`, that one and the 63 behind it.
// Throws Error with the last reason.
std::string on_free_port(const std::string& address, int first_port,
                         const std::function<std::string(const std::string&)>& listen);

}  // namespace perf
