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

// Makes the call, and tells what it did. The library's functions call each other by name, and so
// those here: only what the program called is told, and only once.
template <typename Next, typename Tell>
auto accounted(Next next, Tell tell) {
    if (!persistence::on() || persistence::Inside::is()) {
        return next();
    }
    struct Told {
        ~Told() { tell(); }
        Tell& tell;
    };
    const Told told{tell};
    const persistence::Inside inside;
    return next();
}

// The same where the result is an error or 0.
template <typename Next, typename Tell>
int accounted_if_done(Next next, Tell tell) {
    int result = -1;
    return accounted([&] { return result = next(); },
                     [&] {
                         if (result == 0) {
                             tell();
                         }
                     });
}

// A function that persists drains, too.
void persisted(const void* address, std::size_t length) {
    persistence::persisted(address, length);
    persistence::drained();
}

template <typename... Arguments>
void* copy(void* (*next)(void*, Arguments...), unsigned flags, void* to, std::size_t length,
           Arguments... arguments) {
    return accounted([&] { return next(to, arguments...); }, [&] { copied(to, length, flags); });
}

using Copy = void*(void*, const void*, std::size_t);
using CopyFlags = void*(void*, const void*, std::size_t, unsigned);
using Set = void*(void*, int, std::size_t);
using SetFlags = void*(void*, int, std::size_t, unsigned);

}  // namespace

FABRIC_CALL void pmem_persist(const void* address, std::size_t length) {
    static auto* const next = following<void(const void*, std::size_t)>("pmem_persist");
    accounted([&] { next(address, length); }, [&] { persisted(address, length); });
}

FABRIC_CALL int pmem_msync(const void* address, std::size_t length) {
    static auto* const next = following<int(const void*, std::size_t)>("pmem_msync");
    return accounted_if_done([&] { return next(address, length); },
                             [&] { persistence::persisted(address, length); });
}

FABRIC_CALL int pmem_deep_persist(const void* address, std::size_t length) {
    static auto* const next = following<int(const void*, std::size_t)>("pmem_deep_persist");
    return accounted_if_done([&] { return next(address, length); },
                             [&] { persisted(address, length); });
}

FABRIC_CALL void pmem_flush(const void* address, std::size_t length) {
    static auto* const next = following<void(const void*, std::size_t)>("pmem_flush");
    accounted([&] { next(address, length); }, [&] { persistence::flushed(address, length); });
}

FABRIC_CALL void pmem_deep_flush(const void* address, std::size_t length) {
    static auto* const next = following<void(const void*, std::size_t)>("pmem_deep_flush");
    accounted([&] { next(address, length); }, [&] { persistence::flushed(address, length); });
}

FABRIC_CALL void pmem_drain() {
    static auto* const next = following<void()>("pmem_drain");
    accounted([] { next(); }, [] { persistence::drained(); });
}

FABRIC_CALL int pmem_deep_drain(const void* address, std::size_t length) {
    static auto* const next = following<int(const void*, std::size_t)>("pmem_deep_drain");
    return accounted_if_done([&] { return next(address, length); }, [] { persistence::drained(); });
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
