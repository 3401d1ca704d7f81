// SPDX-License-Identifier: BSD-3-Clause
// Older contents of lines that may still be what the medium gets.
#include <algorithm>
#include <bit>
#include <cstring>

#include "memory/persistence/model.hpp"

namespace fabric::memory::persistence {

namespace {

void apply(const Version& version, std::uint64_t mask, std::byte* line) {
    for (std::uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const auto at = static_cast<std::size_t>(std::countr_zero(rest));
        line[at] = version.bytes[at];
    }
}

// Takes versions without bytes out.
template <typename Drop>
void squeeze(Buried& buried, Drop drop) {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < buried.count; ++i) {
        if (buried.versions[i].mask == 0) {
            drop(buried.versions[i].operation);
        } else {
            if (kept != i) {
                buried.versions[kept] = buried.versions[i];
            }
            ++kept;
        }
    }
    buried.count = kept;
}

}  // namespace

void Model::bury(Area& area, std::uint64_t begin, std::uint64_t end, const Piece& piece) {
    for (std::uint64_t line = begin / kLine; line * kLine < end; ++line) {
        bury_in_line(area, line, line_mask(line, begin, end), piece);
    }
}

void Model::bury_in_line(Area& area, std::uint64_t line, std::uint64_t mask, const Piece& piece) {
    const bool fresh = !area.buried.contains(line);
    if (fresh && (usage_.buried_lines + 1) * sizeof(Buried) > limits_.buried_bytes) {
        ++usage_.versions_dropped;
        return;
    }
    Buried& buried = area.buried[line];
    usage_.buried_lines += fresh ? 1U : 0U;
    if (buried.count == Buried::kMax) {
        ++usage_.versions_dropped;
        buried.versions.front().mask = 0;
        squeeze(buried, [this](Operation* operation) { drop(operation); });
    }
    Version& version = buried.versions[buried.count++];
    version.mask = mask;
    version.operation = piece.operation;
    version.stage = piece.stage;
    const std::uint64_t room = std::min(kLine, area.length - line * kLine);
    std::memcpy(version.bytes.data(), area.memory + line * kLine, room);
    hold(piece.operation);
}

void Model::forget_buried(Area& area, std::uint64_t begin, std::uint64_t end) {
    if (area.buried.empty()) {
        return;
    }
    for (std::uint64_t line = begin / kLine; line * kLine < end; ++line) {
        forget_versions(area, line, line_mask(line, begin, end), Buried::kMax);
    }
}

// Of the versions below an index these bytes are overtaken by what became durable.
void Model::forget_versions(Area& area, std::uint64_t line, std::uint64_t mask, std::size_t below) {
    const auto found = area.buried.find(line);
    if (found == area.buried.end()) {
        return;
    }
    Buried& buried = found->second;
    for (std::size_t i = 0; i < std::min<std::size_t>(below, buried.count); ++i) {
        buried.versions[i].mask &= ~mask;
    }
    squeeze(buried, [this](Operation* operation) { drop(operation); });
    if (buried.count == 0) {
        area.buried.erase(found);
        --usage_.buried_lines;
    }
}

void Model::settle_version(Area& area, std::uint64_t line, Buried& buried, std::size_t index) {
    Version& version = buried.versions[index];
    const std::uint64_t mask = version.mask;
    version.operation->marks |= kPartlyDurable;
    apply(version, mask, area.image + line * kLine);
    ++image_changes_;
    forget_versions(area, line, mask, index + 1);
}

void Model::advance_buried(const Operation& operation, Area& area, std::uint64_t begin,
                           std::uint64_t end, bool durable) {
    for (std::uint64_t line = begin / kLine; line * kLine < end; ++line) {
        while (advance_version(operation, area, line, durable)) {
        }
    }
}

// One of its versions in a line; false if there is none left to advance.
bool Model::advance_version(const Operation& operation, Area& area, std::uint64_t line,
                            bool durable) {
    const auto found = area.buried.find(line);
    if (found == area.buried.end()) {
        return false;
    }
    Buried& buried = found->second;
    const auto last = buried.versions.begin() + buried.count;
    const auto mine = std::find_if(buried.versions.begin(), last, [&](const Version& version) {
        return version.operation == &operation && (durable || version.stage != Stage::Visible);
    });
    if (mine == last) {
        return false;
    }
    mine->stage = Stage::Visible;
    if (durable) {
        settle_version(area, line, buried,
                       static_cast<std::size_t>(mine - buried.versions.begin()));
    }
    return true;
}

// The CPU persists lines whose newest bytes it cannot see yet: what it sees below them.
void Model::persist_below(Area& area, std::uint64_t begin, std::uint64_t end, std::uint64_t last) {
    for (std::uint64_t line = begin / kLine; !area.buried.empty() && line * kLine < end; ++line) {
        const auto found = area.buried.find(line);
        if (found == area.buried.end()) {
            continue;
        }
        Buried& buried = found->second;
        for (std::size_t i = buried.count; i-- > 0;) {
            const Version& version = buried.versions[i];
            const bool seen = version.stage == Stage::Visible && version.operation->number <= last;
            if (seen && (version.mask & line_mask(line, begin, end)) != 0) {
                settle_version(area, line, buried, i);
                break;
            }
        }
    }
}

}  // namespace fabric::memory::persistence
