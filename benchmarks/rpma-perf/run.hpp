// SPDX-License-Identifier: BSD-3-Clause
// rpma-perf run: measures a plan against a server and gives out the results.
#pragma once

#include <string>

#include "measure.hpp"
#include "plan.hpp"

namespace perf {

struct OutputOptions {
    std::string json;
    std::string csv;
    std::string report;
};

struct RunOptions {
    std::string host;
    int port = 7471;
    PlanOptions plan;
    Timing timing;
    unsigned repeat = 3;
    OutputOptions output;
    std::string library;  // of librpma, instead of the one that was linked
    std::string command;  // as typed, for the results
};

// The exit status: 0, 1 after a failure, 128 + signal after Ctrl-C.
int run_client(const RunOptions& options);

}  // namespace perf
