// SPDX-License-Identifier: BSD-3-Clause
// rpma-perf local: both sides on this machine's software device, without any set-up.
#pragma once

#include <string>

#include "run.hpp"
#include "server.hpp"

namespace perf {

struct LocalOptions {
    std::string native;  // options of rpma-fabric run; empty: its defaults
    std::string mtu;
};

// Does not return in a process that is not on the software device: it starts itself again there.
void go_on_fabric(const LocalOptions& local, char** argv);

int run_local(const ServerOptions& server, RunOptions run);

}  // namespace perf
