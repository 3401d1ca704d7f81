// SPDX-License-Identifier: BSD-3-Clause
#include "memory/table.hpp"

#include <cerrno>
#include <new>

#include "memory/mappings.hpp"
#include "memory/persistence/door.hpp"

namespace fabric::memory {

namespace {

constexpr std::uint32_t kIndexShift = 8;
constexpr std::uint32_t kFreeBeforeReuse = 1024;
constexpr unsigned kRemoteChange = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

bool covers(const Region& region, std::uint64_t address, std::uint64_t length) {
    return address >= region.iova && length <= region.length &&
           address - region.iova <= region.length - length;
}

bool acceptable(const void* base, std::uint64_t length, std::uint64_t iova, unsigned access) {
    const bool wraps =
        reinterpret_cast<std::uintptr_t>(base) + length < length || iova + length < length;
    const bool orphan = (access & kRemoteChange) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0;
    return length != 0 && !wraps && !orphan;
}

}  // namespace

// Never destroyed: other threads may use it until the process has ended.
Table& Table::instance() {
    static constinit Table table;
    return table;
}

Table::Slot* Table::slot(std::uint32_t index) const {
    Chunk* const chunk = chunks_[index / kChunkSlots].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &(*chunk)[index % kChunkSlots];
}

std::uint32_t Table::take_fresh_index() {
    if (fresh_ > kMaxRegions) {
        return 0;
    }
    auto& chunk = chunks_[fresh_ / kChunkSlots];
    if (chunk.load(std::memory_order_relaxed) == nullptr) {
        auto* const made = new (std::nothrow) Chunk;
        if (made == nullptr) {
            return 0;
        }
        chunk.store(made, std::memory_order_release);
    }
    return fresh_++;
}

// 0 if there is none.
std::uint32_t Table::take_index() {
    if (free_count_ < kFreeBeforeReuse) {
        if (const std::uint32_t index = take_fresh_index(); index != 0) {
            return index;
        }
    }
    const std::uint32_t index = free_first_;
    if (index != 0) {
        free_first_ = slot(index)->next_free;
        --free_count_;
    }
    return index;
}

void Table::return_index(std::uint32_t index) {
    Slot* const freed = slot(index);
    freed->next_free = 0;
    ++freed->uses;
    if (free_count_ == 0) {
        free_first_ = index;
    } else {
        slot(free_last_)->next_free = index;
    }
    free_last_ = index;
    ++free_count_;
}

int Table::insert(Region* region) {
    const std::lock_guard lock(mutex_);
    const std::uint32_t index = take_index();
    if (index == 0) {
        return ENOMEM;
    }
    Slot* const place = slot(index);
    region->key = index << kIndexShift | place->uses;
    place->region.store(region, std::memory_order_release);
    return 0;
}

namespace {

void destroy(Region* region) {
    persistence::deregistered(*region);
    delete region;
}

}  // namespace

// Checks, and describes the registration; it has no key yet.
int Table::make(const ibv_pd* pd, void* base, std::uint64_t length, std::uint64_t iova,
                unsigned access, Region** region) {
    if (!acceptable(base, length, iova, access)) {
        return EINVAL;
    }
    const Mapped mapped = check_mapped(base, length, (access & IBV_ACCESS_LOCAL_WRITE) != 0);
    if (mapped.error != 0) {
        return mapped.error;
    }
    *region = new (std::nothrow) Region{static_cast<std::byte*>(base),
                                        iova,
                                        length,
                                        0,
                                        access,
                                        pd,
                                        mapped.shared_file,
                                        mapped.device_dax};
    if (*region == nullptr) {
        return ENOMEM;
    }
    persistence::registered(**region);
    return 0;
}

int Table::add(const ibv_pd* pd, void* base, std::uint64_t length, std::uint64_t iova,
               unsigned access, Region** region) {
    Region* made = nullptr;
    if (const int error = make(pd, base, length, iova, access, &made); error != 0) {
        return error;
    }
    if (const int error = insert(made); error != 0) {
        destroy(made);
        return error;
    }
    *region = made;
    return 0;
}

int Table::replace(Region* old, const ibv_pd* pd, void* base, std::uint64_t length,
                   std::uint64_t iova, unsigned access, Region** region) {
    Region* made = nullptr;
    if (const int error = make(pd, base, length, iova, access, &made); error != 0) {
        return error;
    }
    const std::lock_guard lock(mutex_);
    made->key = old->key;
    slot(old->key >> kIndexShift)->region.store(made, std::memory_order_release);
    *region = made;
    return 0;
}

void Table::discard(Region* region) {
    destroy(region);
}

void Table::retire(Region* region) {
    const std::lock_guard lock(mutex_);
    slot(region->key >> kIndexShift)->region.store(nullptr, std::memory_order_release);
}

void Table::free(Region* region) {
    const std::lock_guard lock(mutex_);
    return_index(region->key >> kIndexShift);
    destroy(region);
}

const Region* Table::lookup(std::uint32_t key, const ibv_pd* pd, unsigned access) const {
    const std::uint32_t index = key >> kIndexShift;
    const Slot* const place = index <= kMaxRegions ? slot(index) : nullptr;
    const Region* const region =
        place == nullptr ? nullptr : place->region.load(std::memory_order_acquire);
    const bool match = region != nullptr && region->key == key && region->pd == pd &&
                       (region->access & access) == access;
    return match ? region : nullptr;
}

std::optional<Segment> Table::find(std::uint32_t key, const ibv_pd* pd, std::uint64_t address,
                                   std::uint64_t length, unsigned access) const {
    const Region* const region = lookup(key, pd, access);
    if (region == nullptr || !covers(*region, address, length)) {
        return std::nullopt;
    }
    return Segment{region->base + (address - region->iova), length, region};
}

std::optional<Segment> Table::find_region(std::uint32_t key, const ibv_pd* pd,
                                          unsigned access) const {
    const Region* const region = lookup(key, pd, access);
    if (region == nullptr) {
        return std::nullopt;
    }
    return Segment{region->base, region->length, region};
}

std::size_t Table::regions_of(const ibv_pd* pd) const {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (std::uint32_t index = 1; index < fresh_; ++index) {
        const Region* const region = slot(index)->region.load(std::memory_order_relaxed);
        count += region != nullptr && region->pd == pd ? 1 : 0;
    }
    return count;
}

}  // namespace fabric::memory
