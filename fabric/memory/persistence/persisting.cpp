// SPDX-License-Identifier: BSD-3-Clause
// What the target's CPU makes durable.
#include <algorithm>
#include <cstring>

#include "memory/persistence/model.hpp"

namespace fabric::memory::persistence {

namespace {

// Whole lines, inside of the area.
Range in_lines(const Range& range, std::uint64_t length) {
    const std::uint64_t end = std::min(length, (range.end + kLine - 1) / kLine * kLine);
    return {range.area, std::min(range.begin / kLine * kLine, end), end};
}

bool differs(const Area& area, std::uint64_t begin, std::uint64_t end) {
    return std::memcmp(area.image + begin, area.memory + begin, end - begin) != 0;
}

}  // namespace

bool Model::persist_matters(const Range& range) const {
    Area& area = *areas_[range.area];
    const Range lines = in_lines(range, area.length);
    std::uint64_t position = lines.begin;
    for (auto at = area.first_behind(lines.begin); at != area.pieces.end() && at->first < lines.end;
         ++at) {
        if (at->second.stage == Stage::Visible || !area.buried.empty() ||
            (at->first > position && differs(area, position, at->first))) {
            return true;
        }
        position = at->second.end;
    }
    return position < lines.end && differs(area, position, lines.end);
}

void Model::persist(const Range& range, std::uint64_t last) {
    Area& area = *areas_[range.area];
    const Range lines = in_lines(range, area.length);
    forget_revocable();
    std::uint64_t position = lines.begin;
    while (position < lines.end) {
        const auto at = area.first_behind(position);
        const bool none = at == area.pieces.end() || at->first >= lines.end;
        if (none || at->first > position) {
            const std::uint64_t end = none ? lines.end : at->first;
            settle(area, position, end);
            position = end;
        } else {
            position = persist_piece(area, position, std::min(at->second.end, lines.end), last, at);
        }
    }
    last_persisted_[range.area] = {range, last_operation()};
}

std::uint64_t Model::persist_piece(Area& area, std::uint64_t begin, std::uint64_t end,
                                   std::uint64_t last, Pieces::iterator at) {
    const Piece piece = at->second;
    if (piece.stage == Stage::Visible && piece.since <= last) {
        settle(area, begin, end);
    } else {
        piece.operation->marks |= piece.stage == Stage::Adapter ? kTooEarly : 0;
        persist_below(area, begin, end, last);
    }
    return end;
}

void Model::mark_flushed(const Range& range) {
    Area& area = *areas_[range.area];
    const Range lines = in_lines(range, area.length);
    for (auto at = area.first_behind(lines.begin); at != area.pieces.end() && at->first < lines.end;
         ++at) {
        at->second.operation->marks |=
            at->second.stage == Stage::Visible ? kFlushedOnly : kTooEarly;
    }
}

std::optional<Model::Persisted> Model::last_persisted(std::uint32_t area) const {
    const Persisted& last = last_persisted_[area];
    return last.range.end == 0 ? std::nullopt : std::optional(last);
}

}  // namespace fabric::memory::persistence
