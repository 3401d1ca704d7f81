// SPDX-License-Identifier: BSD-3-Clause
// The client's side of a case: its connections, shared out among threads.
#pragma once

#include <memory>

#include "case.hpp"
#include "drive.hpp"
#include "link.hpp"

namespace perf {

class Load {
public:
    virtual ~Load() = default;
    // What one thread does, until the control says stop, enough is done, or something fails.
    virtual void run(unsigned thread, RunControl& control, ThreadResult& result) = 0;
};

// Makes all connections. Throws Error.
std::unique_ptr<Load> make_load(const Case& point, const Endpoint& to, const RemoteAccess& access);

}  // namespace perf
