// SPDX-License-Identifier: BSD-3-Clause
// What the rest of the fabric tells the account of persistent memory. Without a platform it costs
// one comparison and one predictable branch where it is asked. All functions are thread-safe and,
// but for registered() and deregistered(), to be called only if on(). Their lock is a leaf.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/persistence/operation.hpp"
#include "memory/placement.hpp"
#include "memory/region.hpp"

namespace fabric::memory::persistence {

namespace detail {
// Decided when the library is loaded, and never changed. Hidden: no table of addresses in between.
[[gnu::visibility("hidden")]] extern bool enabled;
}  // namespace detail

#ifdef RPMA_FABRIC_WITHOUT_ACCOUNT  // benchmarks/persistence only: what it costs that one can ask
constexpr bool on() {
    return false;
}
#else
inline bool on() {
    return detail::enabled;
}
#endif

// Memory was registered: from now on account is kept of what of it is persistent. Without a
// platform it says what is wrong with the settings, if anything is.
void registered(const Region& region);
// It is about to go. What is mapped there may be something else soon.
void deregistered(const Region& region);

// Before the first byte of a payload is placed. nullptr: nothing of it is persistent.
Operation* placing(std::uint32_t connection, Kind kind, Target target);
// All of it is there, or nobody knows (`whole` is false). `overtakes`: the peer posted it before a
// read or flush in front of it had completed.
void placed(Operation* operation, bool whole, bool overtakes);

// At the target, of a connection, before the answer leaves.
void read_executed(std::uint32_t connection, std::uint32_t length);
void flush_executed(std::uint32_t connection, const Segment& range, std::uint8_t type);
void message_completed(std::uint32_t connection);
void connection_ended(std::uint32_t connection);

// The target's CPU.
void persisted(const void* address, std::size_t length);
void persisted_pages(const void* address, std::size_t length);
void persisted_file(int fd);
void persisted_file_system(int fd);
void persisted_everything();
// Write-back without a fence, and the fence.
void flushed(const void* address, std::size_t length);
void drained();
// The program says that what the adapter writes is persistent.
void declared_direct_write();

// As long as it lives, the calling thread's persisting calls are part of one that is told as a
// whole.
class Inside {
public:
    Inside() { ++depth; }
    ~Inside() { --depth; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    static bool is() { return depth != 0; }

private:
    static thread_local int depth;
};

}  // namespace fabric::memory::persistence
