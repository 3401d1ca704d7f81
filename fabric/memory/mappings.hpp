// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says about this process's address space.
#pragma once

#include <cstdint>

namespace fabric::memory {

// 0 if every page of [base, base + length) is mapped, readable, and writable where `writable` asks
// for it; EFAULT if not. Costs one pass over the mappings, whatever their sizes.
int check_mapped(const void* base, std::uint64_t length, bool writable);

}  // namespace fabric::memory
