// SPDX-License-Identifier: BSD-3-Clause
// libpmem. Declared here and not by its header, which need not be installed.
#include <cstddef>

#include "calls/following.hpp"
#include "memory/persistence/door.hpp"

using namespace fabric::calls;
using namespace fabric::memory;

namespace {

constexpr unsigned kNoDrain = 1U << 0;  // PMEM_F_MEM_NODRAIN
constexpr unsigned kNoFlush = 1U << 5;  // PMEM_F_MEM_NOFLUSH

// What a copying function has left behind it.
void copied(const void* address, std::size_t length, unsigned flags) {
    if ((flags & kNoFlush) != 0) {
        return;
    }
    persistence::flushed(address, length);
    if ((flags & kNoDrain) == 0) {
        persistence::drained();
    }
}

template <typename... Arguments>
void* copy(void* (*next)(void*, Arguments...), unsigned flags, void* to, std::size_t length,
           Arguments... arguments) {
    if (!persistence::on()) {
        return next(to, arguments...);
    }
    void* result = nullptr;
    {
        const persistence::Inside inside;
        result = next(to, arguments...);
    }
    copied(to, length, flags);
    return result;
}

using Copy = void*(void*, const void*, std::size_t);
using CopyFlags = void*(void*, const void*, std::size_t, unsigned);
using Set = void*(void*, int, std::size_t);
using SetFlags = void*(void*, int, std::size_t, unsigned);

}  // namespace

FABRIC_CALL void pmem_persist(const void* address, std::size_t length) {
    static auto* const next = following<void(const void*, std::size_t)>("pmem_persist");
    next(address, length);
    if (persistence::on()) {
        persistence::persisted(address, length);
    }
}

FABRIC_CALL int pmem_msync(const void* address, std::size_t length) {
    static auto* const next = following<int(const void*, std::size_t)>("pmem_msync");
    const persistence::Inside inside;
    const int result = next(address, length);
    if (result == 0 && persistence::on()) {
        persistence::persisted(address, length);
    }
    return result;
}

FABRIC_CALL int pmem_deep_persist(const void* address, std::size_t length) {
    static auto* const next = following<int(const void*, std::size_t)>("pmem_deep_persist");
    const persistence::Inside inside;
    const int result = next(address, length);
    if (result == 0 && persistence::on()) {
        persistence::persisted(address, length);
    }
    return result;
}

FABRIC_CALL void pmem_flush(const void* address, std::size_t length) {
    static auto* const next = following<void(const void*, std::size_t)>("pmem_flush");
    next(address, length);
    if (persistence::on()) {
        persistence::flushed(address, length);
    }
}

FABRIC_CALL void pmem_deep_flush(const void* address, std::size_t length) {
    static auto* const next = following<void(const void*, std::size_t)>("pmem_deep_flush");
    next(address, length);
    if (persistence::on()) {
        persistence::flushed(address, length);
    }
}

FABRIC_CALL void pmem_drain() {
    static auto* const next = following<void()>("pmem_drain");
    next();
    if (persistence::on()) {
        persistence::drained();
    }
}

FABRIC_CALL int pmem_deep_drain(const void* address, std::size_t length) {
    static auto* const next = following<int(const void*, std::size_t)>("pmem_deep_drain");
    const persistence::Inside inside;
    const int result = next(address, length);
    if (result == 0 && persistence::on()) {
        persistence::drained();
    }
    return result;
}

FABRIC_CALL void* pmem_memmove(void* to, const void* from, std::size_t length, unsigned flags) {
    static auto* const next = following<CopyFlags>("pmem_memmove");
    return copy(next, flags, to, length, from, length, flags);
}

FABRIC_CALL void* pmem_memcpy(void* to, const void* from, std::size_t length, unsigned flags) {
    static auto* const next = following<CopyFlags>("pmem_memcpy");
    return copy(next, flags, to, length, from, length, flags);
}

FABRIC_CALL void* pmem_memset(void* to, int value, std::size_t length, unsigned flags) {
    static auto* const next = following<SetFlags>("pmem_memset");
    return copy(next, flags, to, length, value, length, flags);
}

FABRIC_CALL void* pmem_memmove_persist(void* to, const void* from, std::size_t length) {
    static auto* const next = following<Copy>("pmem_memmove_persist");
    return copy(next, 0, to, length, from, length);
}

FABRIC_CALL void* pmem_memcpy_persist(void* to, const void* from, std::size_t length) {
    static auto* const next = following<Copy>("pmem_memcpy_persist");
    return copy(next, 0, to, length, from, length);
}

FABRIC_CALL void* pmem_memset_persist(void* to, int value, std::size_t length) {
    static auto* const next = following<Set>("pmem_memset_persist");
    return copy(next, 0, to, length, value, length);
}

FABRIC_CALL void* pmem_memmove_nodrain(void* to, const void* from, std::size_t length) {
    static auto* const next = following<Copy>("pmem_memmove_nodrain");
    return copy(next, kNoDrain, to, length, from, length);
}

FABRIC_CALL void* pmem_memcpy_nodrain(void* to, const void* from, std::size_t length) {
    static auto* const next = following<Copy>("pmem_memcpy_nodrain");
    return copy(next, kNoDrain, to, length, from, length);
}

FABRIC_CALL void* pmem_memset_nodrain(void* to, int value, std::size_t length) {
    static auto* const next = following<Set>("pmem_memset_nodrain");
    return copy(next, kNoDrain, to, length, value, length);
}
