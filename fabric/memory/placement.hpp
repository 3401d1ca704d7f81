// SPDX-License-Identifier: BSD-3-Clause
// The one door by which bytes from the network get into local memory. What a power failure would
// leave of them is modelled behind this door, so nothing else may write into a Segment on behalf of
// a peer.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/region.hpp"

namespace fabric::memory {

// The destination of one packet's payload: segments in order, lengths adding up to the payload
// length.
using Target = std::span<const Segment>;

// Copies bytes that already lie in a buffer. An aligned 8-byte word is stored by one atomic store,
// so that a CPU that reads the word concurrently sees the old or the new value. `offset` counts
// from the start of the target. False if the memory is gone (unmapped by the program although
// registered): the access failed.
bool copy(Target target, std::size_t offset, std::span<const std::byte> bytes);

// Copies bytes out of a source, checked and word-atomic in the same way. For small payloads that
// are batched in a buffer; a large one is better given to the kernel as an iovec, which reports
// vanished memory itself (EFAULT).
bool fetch(Target source, std::size_t offset, std::span<std::byte> out);

// For receiving straight into memory: fills `out` with the iovecs of [offset, end) of the target,
// returns how many. The receiver then reports what arrived by arrived().
std::size_t window(Target target, std::size_t offset, std::span<iovec> out);
void arrived(Target target, std::size_t offset, std::size_t bytes);

// Remote atomics on an aligned 8-byte word in host byte order; they are atomic with respect to the
// CPU as well.
bool compare_swap(const Segment& word, std::uint64_t compare, std::uint64_t swap,
                  std::uint64_t* original);
bool fetch_add(const Segment& word, std::uint64_t add, std::uint64_t* original);
bool atomic_write(const Segment& word, std::span<const std::byte, 8> value);

// A native flush reached this range: everything placed before it by this process is globally
// visible, and persistent where the memory is persistent (type 2). False if it cannot be done.
bool flush(const Segment& range, std::uint8_t type);

}  // namespace fabric::memory
