// SPDX-License-Identifier: BSD-3-Clause
#include "memory/persistence/survival.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace fabric::memory::persistence {

namespace {

enum Seed : std::uint64_t { kNothing, kEverything, kOnlyLatest, kAllButLatest, kFirstByChance };

constexpr std::uint64_t kPage = 4096;

// splitmix64
constexpr std::uint64_t mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15ULL;
    value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ value >> 27U) * 0x94d049bb133111ebULL;
    return value ^ value >> 31U;
}

constexpr std::uint64_t word_mask(std::uint64_t word) {
    return 0xffULL << (word * kWord);
}

void apply_bytes(const std::byte* from, std::uint64_t mask, std::byte* to) {
    for (std::uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const auto at = static_cast<std::size_t>(std::countr_zero(rest));
        to[at] = from[at];
    }
}

std::uint64_t differing(const std::byte* one, const std::byte* other, std::uint64_t room) {
    std::uint64_t mask = 0;
    for (std::uint64_t i = 0; i < room; ++i) {
        mask |= one[i] != other[i] ? 1ULL << i : 0;
    }
    return mask;
}

// Calls use(first bit, behind the last bit) for each run of ones.
template <typename Use>
void each_run(std::uint64_t mask, Use use) {
    while (mask != 0) {
        const auto from = static_cast<unsigned>(std::countr_zero(mask));
        const unsigned to = from + static_cast<unsigned>(std::countr_one(mask >> from));
        use(from, to);
        mask = to == kLine ? 0 : mask >> to << to;
    }
}

std::uint64_t room_of(const Area& area, std::uint64_t line) {
    return std::min(kLine, area.length - line * kLine);
}

}  // namespace

Survival::Survival(const Model& model, std::uint64_t seed, const LineSet* lose)
    : model_(model), seed_(seed), lose_(lose), stores_survive_(model.platform().caches_survive()) {}

// Everything that may be kept or lost in a line, besides what is durable.
void Survival::collect(const Area& area, std::uint64_t number, std::uint64_t room,
                       Candidates& out) const {
    const std::uint64_t begin = number * kLine;
    const std::byte* const memory = area.memory + begin;
    if (const auto found = area.buried.find(number); found != area.buried.end()) {
        for (std::uint32_t i = 0; i < found->second.count; ++i) {
            const Version& version = found->second.versions[i];
            out.add({version.mask, version.bytes.data(), version.operation, false});
        }
    }
    std::uint64_t stored = differing(area.image + begin, memory, room);
    const std::size_t first = out.count;
    auto& pieces = const_cast<Area&>(area);  // looks only
    for (auto at = pieces.first_behind(begin); at != area.pieces.end() && at->first < begin + room;
         ++at) {
        const std::uint64_t mask = line_mask(number, at->first, at->second.end);
        out.add({mask, memory, at->second.operation, at->second.stage == Stage::Arriving});
        stored &= ~mask;
    }
    std::sort(out.list.begin() + static_cast<std::ptrdiff_t>(first),
              out.list.begin() + static_cast<std::ptrdiff_t>(out.count),
              [](const Candidate& a, const Candidate& b) {
                  return a.operation->number < b.operation->number;
              });
    if (stored != 0) {
        out.add({stored, memory, nullptr, false});
    }
}

std::uint64_t Survival::seed_of(std::uint32_t area, std::uint64_t number) const {
    return lose_ == nullptr || contains(*lose_, area, number) ? seed_ : kEverything;
}

// By chance a quarter, half or three quarters of all.
bool Survival::kept(const Candidate& candidate, std::uint64_t seed, std::uint64_t chance) const {
    if (candidate.arriving) {
        return false;
    }
    if (candidate.operation == nullptr && stores_survive_) {
        return true;
    }
    const bool latest =
        candidate.operation != nullptr && candidate.operation->number == model_.last_operation();
    switch (seed) {
        case kNothing:
            return false;
        case kEverything:
            return true;
        case kOnlyLatest:
            return latest;
        case kAllButLatest:
            return !latest;
        default:
            return chance % 4 <= seed % 3;
    }
}

// Which bytes of the candidate survive; one line of eight is torn between words. By the operation:
// what of it is buried and what is not share a word.
std::uint64_t Survival::kept_bytes(const Candidate& candidate, std::uint64_t seed,
                                   std::uint64_t place) const {
    const std::uint64_t number = candidate.operation != nullptr ? candidate.operation->number : 0;
    const std::uint64_t chance = mix(mix(seed) ^ mix(place));
    const bool torn = seed >= kFirstByChance && (chance >> 40U) % 8 == 0;
    if (!torn) {
        return kept(candidate, seed, mix(chance + number)) ? candidate.mask : 0;
    }
    std::uint64_t mask = 0;
    for (std::uint64_t word = 0; word < kLine / kWord; ++word) {
        mask |=
            kept(candidate, seed, mix(chance + (number + 1) * kLine + word)) ? word_mask(word) : 0;
    }
    return mask & candidate.mask;
}

bool Survival::line(std::uint32_t area, std::uint64_t number, Line& out,
                    LossListener* listener) const {
    const Area& there = model_.area(area);
    const std::uint64_t room = room_of(there, number);
    Candidates candidates;
    collect(there, number, room, candidates);
    std::memcpy(out.data(), there.image + number * kLine, room);
    const std::uint64_t seed = seed_of(area, number);
    const std::uint64_t place = (std::uint64_t{area} << 40U) + number;
    for (std::size_t i = 0; i < candidates.count; ++i) {
        const Candidate& candidate = candidates.list[i];
        apply_bytes(candidate.bytes, kept_bytes(candidate, seed, place), out.data());
    }
    if (listener != nullptr) {
        report(there, number, candidates, out, *listener);
    }
    return candidates.count != 0;
}

// Lost is what the CPU saw and the medium does not hold.
void Survival::report(const Area& area, std::uint64_t number, const Candidates& candidates,
                      const Line& out, LossListener& listener) {
    const std::uint64_t begin = number * kLine;
    const std::byte* const memory = area.memory + begin;
    const std::byte* const image = area.image + begin;
    const std::uint64_t room = room_of(area, number);
    const std::uint64_t gone = differing(out.data(), memory, room);
    const std::uint64_t changed = differing(image, memory, room);
    for (std::size_t i = 0; i < candidates.count; ++i) {
        const Candidate& candidate = candidates.list[i];
        if (candidate.bytes == memory) {
            each_run(candidate.mask & gone, [&](unsigned from, unsigned to) {
                listener.lost(area, {begin + from, begin + to, candidate.operation});
            });
            each_run(candidate.mask & changed & ~gone, [&](unsigned from, unsigned to) {
                listener.kept(area, {begin + from, begin + to, candidate.operation});
            });
        }
    }
}

std::uint64_t Survival::next_at_risk(std::uint32_t area, std::uint64_t number) const {
    Area& there = model_.area(area);
    const std::uint64_t lines = (there.length + kLine - 1) / kLine;
    while (number < lines) {
        const std::uint64_t begin = number * kLine;
        const std::uint64_t end = std::min((begin / kPage + 1) * kPage, there.length);
        const auto piece = there.first_behind(begin);
        const bool pieces = piece != there.pieces.end() && piece->first < end;
        if (pieces || std::memcmp(there.image + begin, there.memory + begin, end - begin) != 0) {
            return number;
        }
        number = (end + kLine - 1) / kLine;
    }
    return lines;
}

void Survival::apply(std::uint32_t area, LossListener* listener) const {
    const Area& there = model_.area(area);
    const std::uint64_t lines = (there.length + kLine - 1) / kLine;
    Line survivors{};
    for (std::uint64_t number = next_at_risk(area, 0); number < lines;
         number = next_at_risk(area, number + 1)) {
        if (line(area, number, survivors, listener)) {
            std::memcpy(there.memory + number * kLine, survivors.data(), room_of(there, number));
        }
    }
}

std::uint64_t Survival::state_of(const Candidate& candidate) const {
    const std::uint64_t number = candidate.operation != nullptr ? candidate.operation->number : 0;
    const std::uint64_t kind =
        (number == model_.last_operation() ? 2U : 0U) + (candidate.arriving ? 1U : 0U);
    std::uint64_t state = mix(mix(candidate.mask) ^ mix(number << 2U | kind));
    for (std::uint64_t rest = candidate.mask; rest != 0; rest &= rest - 1) {
        state =
            mix(state ^ std::to_integer<std::uint64_t>(candidate.bytes[std::countr_zero(rest)]));
    }
    return state;
}

Survival::Risk Survival::risk(std::uint64_t limit) const {
    Risk risk{0, mix(model_.image_changes())};
    for (std::uint32_t area = 0; area < model_.areas().size(); ++area) {
        const Area& there = model_.area(area);
        const std::uint64_t lines = (there.length + kLine - 1) / kLine;
        for (std::uint64_t number = next_at_risk(area, 0); number < lines && risk.lines < limit;
             number = next_at_risk(area, number + 1)) {
            Candidates candidates;
            collect(there, number, room_of(there, number), candidates);
            risk.lines += candidates.count != 0 ? 1 : 0;
            for (std::size_t i = 0; i < candidates.count; ++i) {
                risk.state = mix(risk.state ^ mix((std::uint64_t{area} << 40U) + number) ^
                                 state_of(candidates.list[i]));
            }
        }
    }
    return risk;
}

}  // namespace fabric::memory::persistence
