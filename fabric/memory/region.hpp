// SPDX-License-Identifier: BSD-3-Clause
// Registered memory: regions, their keys, and the check that every access by key passes.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

namespace fabric::memory {

// One registration. Owned by the Table; stays valid until Table::remove returns.
struct Region {
    std::byte* base = nullptr;  // start in this process
    std::uint64_t iova =
        0;  // start as named by work requests and by the remote side (== base unless reg_mr_iova)
    std::uint64_t length = 0;    // bytes
    std::uint32_t key = 0;       // lkey and rkey are the same number
    unsigned access = 0;         // IBV_ACCESS_*
    const ibv_pd* pd = nullptr;  // protection domain the key is valid in
    bool shared_file =
        false;                // some of it is a shared mapping of a file: msync can make it durable
    bool device_dax = false;  // that is device DAX, which has no msync
};

// A piece of registered memory, checked and translated to an address in this process.
struct Segment {
    std::byte* address = nullptr;
    std::size_t length = 0;
    const Region* region =
        nullptr;  // nullptr: not registered memory (inline data, library buffers)
};

}  // namespace fabric::memory
