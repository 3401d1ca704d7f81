// SPDX-License-Identifier: BSD-3-Clause
// What a device is and can do.
#pragma once

#include <infiniband/verbs.h>

#include <nlohmann/json.hpp>

namespace perf {

// Native operations that the device and the rdma-core of the build know.
struct NativeOperations {
    bool flush = false;
    bool atomic_write = false;
};

NativeOperations native_operations(ibv_context* context);

// Name, firmware, transport, link layer, MTU, native operations.
nlohmann::json describe_device(ibv_context* context);

}  // namespace perf
