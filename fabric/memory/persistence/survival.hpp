// SPDX-License-Identifier: BSD-3-Clause
// The content that the medium holds after a power failure: one of those that the account allows,
// chosen by a seed. Allocates nothing, so that it can be used in a forked child.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "memory/persistence/lines.hpp"
#include "memory/persistence/model.hpp"

namespace fabric::memory::persistence {

// Bytes of a line that are lost. No operation: they were stored by the CPU.
struct LostPiece {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    const Operation* operation = nullptr;
};

class LossListener {
public:
    virtual ~LossListener() = default;
    virtual void lost(const Area& area, const LostPiece& piece) = 0;
    // It was at risk, and survives.
    virtual void kept(const Area& area, const LostPiece& piece) = 0;
};

class Survival {
public:
    // `lose`: only these lines may lose anything; nullptr: all.
    Survival(const Model& model, std::uint64_t seed, const LineSet* lose = nullptr);

    using Line = std::array<std::byte, kLine>;
    // Lines at the end of an area may be shorter. True if the line was at risk.
    bool line(std::uint32_t area, std::uint64_t number, Line& out, LossListener* listener) const;
    // The next line at or behind `number` that may be at risk; the number of lines if there is
    // none.
    std::uint64_t next_at_risk(std::uint32_t area, std::uint64_t number) const;
    // All of an area: writes what is left into the memory itself.
    void apply(std::uint32_t area, LossListener* listener) const;
    // How many lines are at risk in all; stops counting at `limit`.
    std::uint64_t count_at_risk(std::uint64_t limit) const { return risk(limit).lines; }
    struct Risk {
        std::uint64_t lines = 0;
        // Of what is durable and what may become so. Where it is the same, every seed leaves the
        // same. Says nothing if the limit was reached.
        std::uint64_t state = 0;
    };
    Risk risk(std::uint64_t limit) const;

private:
    // One version of some bytes of a line, in the order of arrival.
    struct Candidate {
        std::uint64_t mask = 0;
        const std::byte* bytes = nullptr;  // of the line
        const Operation* operation = nullptr;
        bool arriving = false;
    };
    struct Candidates {
        std::array<Candidate, Buried::kMax + kLine + 1> list;
        std::size_t count = 0;
        void add(const Candidate& one) { list[count++] = one; }
    };

    std::uint64_t state_of(const Candidate& candidate) const;
    void collect(const Area& area, std::uint64_t number, std::uint64_t room, Candidates& out) const;
    std::uint64_t seed_of(std::uint32_t area, std::uint64_t number) const;
    bool kept(const Candidate& candidate, std::uint64_t seed, std::uint64_t chance) const;
    std::uint64_t kept_bytes(const Candidate& candidate, std::uint64_t seed,
                             std::uint64_t place) const;
    static void report(const Area& area, std::uint64_t number, const Candidates& candidates,
                       const Line& out, LossListener& listener);

    const Model& model_;
    const std::uint64_t seed_;
    const LineSet* const lose_;
    const bool stores_survive_;
};

}  // namespace fabric::memory::persistence
