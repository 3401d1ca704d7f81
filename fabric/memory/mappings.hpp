// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says about this process's address space.
#pragma once

#include <cstdint>

namespace fabric::memory {

struct Mapped {
    int error = 0;  // 0, or EFAULT
    bool shared_file =
        false;  // some page belongs to a shared mapping of a file (or that is unknown)
    bool device_dax = false;  // of such a device
};

// Is every page of [base, base + length) mapped, readable, and writable where `writable` asks for
// it? Costs one pass over the mappings, whatever their sizes.
Mapped check_mapped(const void* base, std::uint64_t length, bool writable);

}  // namespace fabric::memory
