// SPDX-License-Identifier: BSD-3-Clause
// rpma-perf server: serves clients, each in a thread of its own, until it is told to stop.
#pragma once

#include <string>

#include "target_memory.hpp"

namespace perf {

struct ServerOptions {
    std::string address;  // empty: all
    int port = 7471;      // 0: any; it is printed
    int data_port = 0;    // first of those for data connections; 0: any
    MemoryOptions memory;
};

int run_server(const ServerOptions& options);

}  // namespace perf
