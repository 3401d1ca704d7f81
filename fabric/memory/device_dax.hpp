// SPDX-License-Identifier: BSD-3-Clause
// Device DAX: persistent memory as a character device, which the kernel lists under the subsystem
// "dax".
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace fabric::memory {

// The granularity in which it can be mapped. Nothing: the character device is no device DAX.
std::optional<std::uint64_t> dax_alignment(dev_t device, const char* sysfs = "/sys");

// Writes the CPU's caches back; device DAX has no msync. False if this architecture has no way, or
// the memory is gone.
bool write_back(const std::byte* address, std::size_t length);

}  // namespace fabric::memory
