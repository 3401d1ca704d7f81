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
    version.since = piece.since;
    const std::uint64_t room = std::min(kLine, area.length - line * kLine);
    std::memcpy(version.bytes.data(), area.memory + line * kLine, room);
    hold(piece.operation);
}

// What the CPU stored there and nobody persisted: durable at once where caches survive.
void Model::cover_stores(Area& area, std::uint64_t begin, std::uint64_t end) {
    if (begin >= end || std::memcmp(area.image + begin, area.memory + begin, end - begin) == 0) {
        return;
    }
    if (platform_.caches_survive()) {
        settle(area, begin, end);
        return;
    }
    for (std::uint64_t line = begin / kLine; line * kLine < end; ++line) {
        std::uint64_t mask = line_mask(line, begin, end);
        for (std::uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            const std::uint64_t at =
                line * kLine + static_cast<std::uint64_t>(std::countr_zero(rest));
            mask &= area.image[at] != area.memory[at] ? ~0ULL : ~(rest & -rest);
        }
        if (mask != 0) {
            bury_in_line(area, line, mask, {0, nullptr, Stage::Visible});
        }
    }
}

// What is newest there again, where the memory still holds it.
void Model::uncover(Area& area, std::uint64_t line, std::uint64_t mask) {
    const auto found = area.buried.find(line);
    if (found == area.buried.end()) {
        return;
    }
    Buried& buried = found->second;
    for (std::size_t i = buried.count; i-- > 0;) {
        Version& version = buried.versions[i];
        std::uint64_t own = version.mask & mask;
        mask &= ~own;
        for (std::uint64_t rest = own; rest != 0; rest &= rest - 1) {
            const auto at = static_cast<std::size_t>(std::countr_zero(rest));
            own &= version.bytes[at] == area.memory[line * kLine + at] ? ~0ULL : ~(rest & -rest);
        }
        uncover_version(area, line, version, own);
        version.mask &= ~own;
    }
    forget_versions(area, line, 0, 0);  // those without bytes
}

void Model::uncover_version(Area& area, std::uint64_t line, const Version& version,
                            std::uint64_t mask) {
    for (std::uint64_t rest = version.operation != nullptr ? mask : 0; rest != 0;) {
        const auto from = static_cast<unsigned>(std::countr_zero(rest));
        const auto count = static_cast<unsigned>(std::countr_one(rest >> from));
        const std::uint64_t begin = line * kLine + from;
        area.pieces[begin] = {begin + count, version.operation, version.stage, version.since};
        hold(version.operation);
        rest &= ~line_mask(line, begin, begin + count);
    }
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

// Some of its bytes.
void Model::settle_version(Area& area, std::uint64_t line, Buried& buried, std::size_t index,
                           std::uint64_t mask) {
    Version& version = buried.versions[index];
    mask &= version.mask;
    if (version.operation != nullptr) {
        version.operation->marks |= kPartlyDurable;
    }
    if (!recording_) {
        forget_revocable();
    }
    apply(version, mask, area.image + line * kLine);
    ++image_changes_;
    forget_versions(area, line, mask, index + 1);
}

void Model::advance_buried(const Operation& operation, Area& area, std::uint64_t begin,
                           std::uint64_t end, bool durable) {
    for (std::uint64_t line = begin / kLine; line * kLine < end; ++line) {
        const std::uint64_t mask = line_mask(line, begin, end);
        while (advance_version(operation, area, line, mask, durable)) {
        }
    }
}

// One of its versions in a line; false if there is none left to advance.
bool Model::advance_version(const Operation& operation, Area& area, std::uint64_t line,
                            std::uint64_t mask, bool durable) {
    const auto found = area.buried.find(line);
    if (found == area.buried.end()) {
        return false;
    }
    Buried& buried = found->second;
    const auto last = buried.versions.begin() + buried.count;
    const auto mine = std::find_if(buried.versions.begin(), last, [&](const Version& version) {
        return version.operation == &operation && (version.mask & mask) != 0 &&
               (durable || version.stage != Stage::Visible);
    });
    if (mine == last) {
        return false;
    }
    const auto index = static_cast<std::size_t>(mine - buried.versions.begin());
    if (durable) {
        settle_version(area, line, buried, index, mask);
        return true;
    }
    return show_version(buried, index, mask);
}

// Some of its bytes are visible now. They become a version of their own, if there is room.
bool Model::show_version(Buried& buried, std::size_t index, std::uint64_t mask) {
    if ((buried.versions[index].mask & ~mask) != 0) {
        if (buried.count == Buried::kMax) {
            ++usage_.versions_dropped;
            return false;
        }
        const auto from = buried.versions.begin() + static_cast<std::ptrdiff_t>(index);
        const auto last = buried.versions.begin() + buried.count;
        std::copy_backward(from, last, last + 1);
        ++buried.count;
        hold(from->operation);
        from->mask &= ~mask;
        buried.versions[++index].mask &= mask;
    }
    buried.versions[index].stage = Stage::Visible;
    buried.versions[index].since = moment_;
    return true;
}

// The CPU persists lines whose newest bytes it cannot see yet: what it sees below them.
void Model::persist_below(Area& area, std::uint64_t begin, std::uint64_t end, std::uint64_t last) {
    for (std::uint64_t line = begin / kLine; !area.buried.empty() && line * kLine < end; ++line) {
        while (persist_version(area, line, line_mask(line, begin, end), last)) {
        }
    }
}

// The newest version in a line that was visible then, if there is one.
bool Model::persist_version(Area& area, std::uint64_t line, std::uint64_t mask,
                            std::uint64_t last) {
    const auto found = area.buried.find(line);
    if (found == area.buried.end()) {
        return false;
    }
    Buried& buried = found->second;
    for (std::size_t i = buried.count; i-- > 0;) {
        const Version& version = buried.versions[i];
        if (version.stage == Stage::Visible && version.since <= last &&
            (version.mask & mask) != 0) {
            settle_version(area, line, buried, i, mask);
            return true;
        }
    }
    return false;
}

}  // namespace fabric::memory::persistence
