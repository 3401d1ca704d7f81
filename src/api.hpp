// SPDX-License-Identifier: BSD-3-Clause
// What every extern "C" function does at its edges: refuse bad arguments, turn a Status into a code
// and exactly one log line. The log line names the function that called the helper.
#pragma once

#include <initializer_list>

#include "log.hpp"
#include "status.hpp"

namespace rpma {

struct NamedPointer {
    const char* name;
    const void* pointer;
};

/// 0 if no pointer is NULL; else logs which one is and returns RPMA_E_INVAL.
int refuse_null(std::initializer_list<NamedPointer> arguments, Where where = Where::here(),
                Origin origin = Origin::setup);

/// The code of status; errno is what rdma-core reported. A failure is logged, RPMA_E_NO_EVENT is
/// none.
int finish(const Status& status, Where where = Where::here(), Origin origin = Origin::setup);

}  // namespace rpma
