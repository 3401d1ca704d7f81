// SPDX-License-Identifier: BSD-3-Clause
// What this process uses of its machine.
#pragma once

#include <cstddef>

namespace it {

int count_threads();
std::size_t private_bytes();  // of memory that no other process shares
std::size_t heap_bytes();     // allocated and not freed
// How often the software device's thread gave up its CPU; -1 if there is no such thread.
long sleeps_of_device();
// As many descriptors as the machine lets this process have; skips the test if those are fewer than
// `needed`.
void raise_descriptor_limit(std::size_t needed);

}  // namespace it
