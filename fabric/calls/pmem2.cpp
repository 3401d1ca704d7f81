// SPDX-License-Identifier: BSD-3-Clause
// libpmem2 gives out its functions as pointers. What it gives is replaced by functions of ours, one
// for each pointer it has ever given: it has one set per granularity.
#include <array>
#include <cstddef>
#include <mutex>
#include <tuple>
#include <utility>

#include "calls/following.hpp"
#include "log.hpp"
#include "memory/persistence/door.hpp"

using namespace fabric::calls;
using namespace fabric::memory;

struct pmem2_map;

namespace {

constexpr unsigned kNoDrain = 1U << 0;  // PMEM2_F_MEM_NODRAIN
constexpr unsigned kNoFlush = 1U << 5;  // PMEM2_F_MEM_NOFLUSH
constexpr std::size_t kSlots = 8;

using Persist = void(const void*, std::size_t);
using Drain = void();
using Copy = void*(void*, const void*, std::size_t, unsigned);
using Set = void*(void*, int, std::size_t, unsigned);

struct PersistKind {
    static void told(const void* address, std::size_t length) {
        persistence::persisted(address, length);
        persistence::drained();  // what was flushed before, too
    }
};
struct FlushKind {
    static void told(const void* address, std::size_t length) {
        persistence::flushed(address, length);
    }
};
struct DrainKind {
    static void told() { persistence::drained(); }
};
struct CopyKind {
    static void told(void* to, const void*, std::size_t length, unsigned flags) {
        done(to, length, flags);
    }
    static void done(const void* to, std::size_t length, unsigned flags) {
        if ((flags & kNoFlush) != 0) {
            return;
        }
        persistence::flushed(to, length);
        if ((flags & kNoDrain) == 0) {
            persistence::drained();
        }
    }
};
struct MoveKind : CopyKind {};
struct SetKind {
    static void told(void* to, int, std::size_t length, unsigned flags) {
        CopyKind::done(to, length, flags);
    }
};

// The functions of one kind, and ours that stand for them.
template <typename Kind, typename Function>
class Stand;

template <typename Kind, typename Result, typename... Arguments>
class Stand<Kind, Result(Arguments...)> {
public:
    using Function = Result(Arguments...);

    static Function* in_for(Function* real) {
        const std::lock_guard guard(mutex);
        for (std::size_t i = 0; i < kSlots; ++i) {
            if (originals[i] == nullptr) {
                originals[i] = real;
            }
            if (originals[i] == real) {
                return ours[i];
            }
        }
        fabric::log(fabric::LogLevel::Error,
                    "libpmem2 has more functions than expected; some persisting is not seen");
        return real;
    }

private:
    template <std::size_t I>
    static Result call(Arguments... arguments) {
        struct Told {
            ~Told() { std::apply(Kind::told, arguments); }
            std::tuple<Arguments...> arguments;
        };
        const Told told{{arguments...}};
        const persistence::Inside inside;
        return originals[I](arguments...);
    }

    template <std::size_t... I>
    static constexpr std::array<Function*, kSlots> make(std::index_sequence<I...>) {
        return {call<I>...};
    }

    static inline std::mutex mutex;
    static inline std::array<Function*, kSlots> originals{};
    static constexpr std::array<Function*, kSlots> ours = make(std::make_index_sequence<kSlots>());
};

template <typename Kind, typename Function>
Function* stand_in(Function* real) {
    return real != nullptr && persistence::on() ? Stand<Kind, Function>::in_for(real) : real;
}

template <typename Function>
using Getter = Function*(pmem2_map*);

}  // namespace

FABRIC_CALL Persist* pmem2_get_persist_fn(pmem2_map* map) {
    static auto* const next = following<Getter<Persist>>("pmem2_get_persist_fn");
    return stand_in<PersistKind>(next(map));
}

FABRIC_CALL Persist* pmem2_get_flush_fn(pmem2_map* map) {
    static auto* const next = following<Getter<Persist>>("pmem2_get_flush_fn");
    return stand_in<FlushKind>(next(map));
}

FABRIC_CALL Drain* pmem2_get_drain_fn(pmem2_map* map) {
    static auto* const next = following<Getter<Drain>>("pmem2_get_drain_fn");
    return stand_in<DrainKind>(next(map));
}

FABRIC_CALL Copy* pmem2_get_memcpy_fn(pmem2_map* map) {
    static auto* const next = following<Getter<Copy>>("pmem2_get_memcpy_fn");
    return stand_in<CopyKind>(next(map));
}

FABRIC_CALL Copy* pmem2_get_memmove_fn(pmem2_map* map) {
    static auto* const next = following<Getter<Copy>>("pmem2_get_memmove_fn");
    return stand_in<MoveKind>(next(map));
}

FABRIC_CALL Set* pmem2_get_memset_fn(pmem2_map* map) {
    static auto* const next = following<Getter<Set>>("pmem2_get_memset_fn");
    return stand_in<SetKind>(next(map));
}

FABRIC_CALL int pmem2_deep_flush(pmem2_map* map, void* address, std::size_t length) {
    static auto* const next = following<int(pmem2_map*, void*, std::size_t)>("pmem2_deep_flush");
    const persistence::Inside inside;
    const int result = next(map, address, length);
    if (result == 0 && persistence::on()) {
        persistence::persisted(address, length);
    }
    return result;
}
