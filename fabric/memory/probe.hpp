// SPDX-License-Identifier: BSD-3-Clause
// Asks the kernel whether memory can be touched, so that a program that unmapped or truncated
// registered memory is not killed by a SIGSEGV or SIGBUS that the fabric causes.
//
// A device would go on using the pinned pages; nothing in user space can pin what the program takes
// away. A signal handler would have to share the program's signals, so the question is put by a
// system call that touches the memory on the kernel's side and changes nothing: some 0.1
// microseconds per page. What remains open is memory that vanishes between the question and the
// copy that follows at once, in another thread, without having been deregistered.
#pragma once

#include <cstddef>

namespace fabric::memory {

// Every page of [address, address + length) can be written; faults them in.
bool writable(const std::byte* address, std::size_t length);
// The same for reading.
bool readable(const std::byte* address, std::size_t length);

}  // namespace fabric::memory
