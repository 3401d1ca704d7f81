// SPDX-License-Identifier: BSD-3-Clause
// The machine and the software that figures belong to.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace perf {

// Host, operating system, processor, memory, load; librpma and rdma-core as loaded here; the device
// that has or reaches the address (absent without one).
nlohmann::json describe_machine(const std::string& address, bool local);

// The file that librpma was loaded from.
std::string librpma_path();

}  // namespace perf
