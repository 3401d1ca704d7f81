// SPDX-License-Identifier: BSD-3-Clause
// What a program sees of the RDMA devices: the report of `rpma-fabric info`.
#pragma once

#include "failure.hpp"

namespace launcher {

// Prints every device that this process sees, through libibverbs' public functions alone. To report
// the fabric the process must itself run under it.
Result<void> print_devices();

}  // namespace launcher
