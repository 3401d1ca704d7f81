// SPDX-License-Identifier: BSD-3-Clause
// The one device, fabric0.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace fabric::verbs {

ibv_device& device();
std::uint64_t
device_guid();  // host order; the same for every process of the machine, other machines have others

}  // namespace fabric::verbs
