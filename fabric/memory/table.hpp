// SPDX-License-Identifier: BSD-3-Clause
// The table of all registrations of this process.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "global_lock.hpp"
#include "memory/region.hpp"

namespace fabric::memory {

// Registrations a process can hold at the same time.
inline constexpr std::uint32_t kMaxRegions = (1U << 20) - 1;

// A key is the number of a slot (upper 24 bits) and how often that slot was used before (low byte).
// A freed slot waits behind many others before it is used again, so that a stale key meets a new
// region only after some 2^18 registrations.
//
// Thread-safe. find() is lock-free and O(1); it is on the path of every packet.
// Removing: after retire() no find() gives the region any more; the caller then waits until nobody
// who found it before still uses it (every user holds the lock of its queue pair or link, so
// passing once through those locks is enough), and calls free(). That protocol lives in
// verbs::deregister.
class Table {
public:
    static Table& instance();

    // Registers [base, base + length). O(1) in length (number of mappings at worst).
    // errno values: EINVAL (length 0, wrap, bad access combination: REMOTE_WRITE or REMOTE_ATOMIC
    // without LOCAL_WRITE), EFAULT (a page of the range is not mapped, or not writable though
    // LOCAL_WRITE is asked for), ENOMEM. On success 0 and *region.
    int add(const ibv_pd* pd, void* base, std::uint64_t length, std::uint64_t iova, unsigned access,
            Region** region);

    // A new registration takes the place and the key of `old`, which no find() gives any more: as
    // retire(). The caller then waits in the same way and calls discard(old). Arguments and errors
    // are those of add(); on failure `old` stays as it is.
    int replace(Region* old, const ibv_pd* pd, void* base, std::uint64_t length, std::uint64_t iova,
                unsigned access, Region** region);
    void discard(Region* region);

    void retire(Region* region);
    void free(Region* region);

    // The segment of [address, address + length) if `key` is registered in `pd`, covers the range
    // and grants all bits of `access` (0: local read). Length 0 needs no valid key by the
    // InfiniBand rules; callers do not ask then.
    std::optional<Segment> find(std::uint32_t key, const ibv_pd* pd, std::uint64_t address,
                                std::uint64_t length, unsigned access) const;

    // The whole region of `key`, under the same conditions but for the range.
    std::optional<Segment> find_region(std::uint32_t key, const ibv_pd* pd, unsigned access) const;

    std::size_t regions_of(const ibv_pd* pd) const;  // for EBUSY in ibv_dealloc_pd

private:
    struct Slot {
        std::atomic<Region*> region{nullptr};
        std::uint32_t next_free = 0;
        std::uint8_t uses = 0;
    };
    static constexpr std::uint32_t kChunkSlots = 512;
    using Chunk = std::array<Slot, kChunkSlots>;

    constexpr Table() = default;
    Slot* slot(std::uint32_t index) const;
    const Region* lookup(std::uint32_t key, const ibv_pd* pd, unsigned access) const;
    std::uint32_t take_index();
    std::uint32_t take_fresh_index();
    void return_index(std::uint32_t index);
    static int make(const ibv_pd* pd, void* base, std::uint64_t length, std::uint64_t iova,
                    unsigned access, Region** region);
    int insert(Region* region);

    std::array<std::atomic<Chunk*>, (kMaxRegions + 1) / kChunkSlots> chunks_{};
    mutable GlobalLock mutex_;      // of everything below, and of all changes
    std::uint32_t fresh_ = 1;       // slots from here on were never used; 0 names no slot
    std::uint32_t free_first_ = 0;  // queue of freed slots: oldest
    std::uint32_t free_last_ = 0;   // and youngest
    std::uint32_t free_count_ = 0;
};

}  // namespace fabric::memory
