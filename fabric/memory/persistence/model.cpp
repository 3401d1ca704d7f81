// SPDX-License-Identifier: BSD-3-Clause
// Operations, and the events of connections.
#include "memory/persistence/model.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fabric::memory::persistence {

Model::Model(const Platform& platform, const Limits& limits)
    : platform_(platform), limits_(limits) {}

Model::~Model() = default;

std::uint32_t Model::add_area(std::string name, std::byte* memory, std::byte* image,
                              std::uint64_t length, std::uint64_t file_offset) {
    auto area = std::make_unique<Area>();
    area->name = std::move(name);
    area->memory = memory;
    area->image = image;
    area->length = length;
    area->file_offset = file_offset;
    areas_.push_back(std::move(area));
    last_persisted_.emplace_back();
    return static_cast<std::uint32_t>(areas_.size() - 1);
}

void Model::shrink(std::uint32_t area, std::uint64_t length) {
    Area& there = *areas_[area];
    forget_revocable();
    cut_out(there, length, there.length);
    forget_buried(there, length, there.length);
    there.length = length;
    ++image_changes_;
}

void Model::replace(std::uint32_t area, std::byte* memory, std::byte* image, std::uint64_t length) {
    Area& there = *areas_[area];
    if (there.length != 0) {
        std::memcpy(image, there.image, there.length);
    }
    there.memory = memory;
    there.image = image;
    there.length = length;
}

// --- operations ---

Operation* Model::find(std::uint64_t number) {
    const auto found = operations_.find(number);
    return found == operations_.end() ? nullptr : &found->second;
}

// nullptr: the CPU, of which no account is kept.
void Model::hold(Operation* operation) {
    if (operation != nullptr) {
        ++operation->references;
    }
}

void Model::drop(Operation* operation) {
    if (operation != nullptr && --operation->references == 0) {
        operations_.erase(operation->number);
        usage_.operations = operations_.size();
    }
}

Operation* Model::begin(std::uint32_t connection, Kind kind, std::span<const Range> ranges,
                        std::uint64_t event, std::uint64_t time) {
    make_room();
    Operation& operation = operations_[next_number_];
    operation.number = next_number_++;
    operation.event = event;
    operation.time = time;
    operation.connection = connection;
    operation.kind = kind;
    operation.ranges.assign(ranges.begin(), ranges.end());
    hold(&operation);  // until end()
    for (const Range& range : ranges) {
        cover(range);
        areas_[range.area]->pieces[range.begin] = {range.end, &operation};
        hold(&operation);
    }
    usage_.operations = operations_.size();
    usage_.peak_operations = std::max(usage_.peak_operations, usage_.operations);
    return &operation;
}

void Model::end(Operation* operation, bool placed) {
    const bool own_read = operation->kind == Kind::ReadResult;
    const bool visible = own_read || platform_.domain == Domain::Wsp;
    const bool durable =
        platform_.domain == Domain::Wsp || (own_read && platform_.caches_survive());
    operation->stage = Stage::Adapter;
    for (const Range& range : operation->ranges) {
        Area& area = *areas_[range.area];
        for (auto at = area.first_behind(range.begin);
             at != area.pieces.end() && at->first < range.end; ++at) {
            if (at->second.operation == operation) {
                at->second.stage = Stage::Adapter;
            }
        }
        if (!placed) {
            abandon(*operation, area, range);
        } else if (visible) {
            advance(*operation, range.area, range.begin, range.end, durable);
        }
    }
    if (placed && !visible) {
        add_number(connections_[operation->connection].in_adapter, operation->number);
    }
    drop(operation);
}

// It changed nothing, or nothing can be said of its bytes. What it has not changed belongs to those
// again whose it was.
void Model::abandon(const Operation& operation, Area& area, const Range& range) {
    auto at = area.first_behind(range.begin);
    while (at != area.pieces.end() && at->first < range.end) {
        const std::uint64_t begin = at->first;
        const std::uint64_t end = at->second.end;
        if (at->second.operation != &operation) {
            ++at;
            continue;
        }
        cut_out(area, begin, end);
        for (std::uint64_t line = begin / kLine; line * kLine < end; ++line) {
            uncover(area, line, line_mask(line, begin, end));
        }
        at = area.first_behind(end);
    }
}

// What lies in the range is older from now on.
void Model::cover(const Range& range) {
    Area& area = *areas_[range.area];
    std::uint64_t position = range.begin;
    for (auto at = area.first_behind(range.begin); at != area.pieces.end() && at->first < range.end;
         ++at) {
        const std::uint64_t begin = std::max(at->first, range.begin);
        const std::uint64_t end = std::min(at->second.end, range.end);
        cover_stores(area, position, begin);
        if (at->second.stage != Stage::Arriving) {
            bury(area, begin, end, at->second);
        }
        position = end;
    }
    cover_stores(area, position, range.end);
    cut_out(area, range.begin, range.end);
}

// Takes the range out of the pieces; those that reach over its ends are shortened. Gives the first
// piece behind it.
Model::Pieces::iterator Model::cut_out(Area& area, std::uint64_t begin, std::uint64_t end) {
    auto at = area.first_behind(begin);
    while (at != area.pieces.end() && at->first < end) {
        const std::uint64_t first = at->first;
        const Piece piece = at->second;
        at = area.pieces.erase(at);
        if (piece.end > end) {
            at = area.pieces.insert_or_assign(at, end, piece);
            hold(piece.operation);
        }
        if (first < begin) {
            area.pieces[first] = {begin, piece.operation, piece.stage, piece.since};
            hold(piece.operation);
        }
        drop(piece.operation);
    }
    return at;
}

// The bytes become durable as the memory holds them.
void Model::settle(Area& area, std::uint64_t begin, std::uint64_t end) {
    if (recording_) {
        record(area, begin, end);
    } else {
        forget_revocable();
    }
    std::memcpy(area.image + begin, area.memory + begin, end - begin);
    ++image_changes_;
    for (auto at = area.first_behind(begin); at != area.pieces.end() && at->first < end; ++at) {
        at->second.operation->marks |= kPartlyDurable;
    }
    cut_out(area, begin, end);
    forget_buried(area, begin, end);
}

// --- connections ---

void Model::add_number(Numbers& numbers, std::uint64_t number) {
    numbers.list.push_back(number);
    if (numbers.list.size() >= numbers.prune_at) {
        std::erase_if(numbers.list, [this](std::uint64_t one) { return !at_risk(one); });
        numbers.prune_at = std::max(numbers.prune_at, 2 * numbers.list.size());
    }
}

bool Model::read_matters(std::uint32_t connection) const {
    const auto found = connections_.find(connection);
    return found != connections_.end() &&
           (!found->second.in_adapter.list.empty() ||
            (platform_.read_persists() &&
             std::any_of(found->second.visible.list.begin(), found->second.visible.list.end(),
                         [this](std::uint64_t number) { return at_risk(number); })));
}

void Model::read(std::uint32_t connection) {
    start_recording(connection);
    push(connection, platform_.read_persists(), kReadBehind);
    recording_ = false;
}

bool Model::message_matters(std::uint32_t connection) const {
    const auto found = connections_.find(connection);
    return found != connections_.end() && !found->second.in_adapter.list.empty();
}

void Model::message(std::uint32_t connection) {
    forget_revocable();
    push(connection, platform_.caches_survive(), kMessageBehind);
}

void Model::connection_ends(std::uint32_t connection) {
    forget_revocable();
    push(connection, platform_.caches_survive(), kConnectionEnded);
    connections_.erase(connection);
}

bool Model::knows(std::uint32_t connection) const {
    return std::any_of(operations_.begin(), operations_.end(), [connection](const auto& entry) {
        return entry.second.connection == connection;
    });
}

void Model::push(std::uint32_t connection, bool durable, std::uint8_t mark) {
    const auto found = connections_.find(connection);
    if (found == connections_.end()) {
        return;
    }
    Connection& pushed = found->second;
    const auto adapter = std::exchange(pushed.in_adapter, {}).list;
    if (durable) {
        push_list(std::exchange(pushed.visible, {}).list, true, mark);
    }
    push_list(adapter, durable, mark);
    for (const std::uint64_t number : durable ? std::vector<std::uint64_t>{} : adapter) {
        add_number(pushed.visible, number);
    }
}

void Model::push_list(const std::vector<std::uint64_t>& numbers, bool durable, std::uint8_t mark) {
    for (const std::uint64_t number : numbers) {
        Operation* const operation = find(number);
        if (operation == nullptr) {
            continue;
        }
        operation->marks |= mark;
        hold(operation);
        for (const Range& range : operation->ranges) {
            advance(*operation, range.area, range.begin, range.end, durable);
        }
        drop(operation);
    }
}

bool Model::flush_matters(std::uint32_t connection, const Range& range) const {
    const auto found = connections_.find(connection);
    if (found == connections_.end()) {
        return false;
    }
    const auto touches = [&](std::uint64_t number) {
        const auto operation = operations_.find(number);
        return operation != operations_.end() &&
               std::any_of(operation->second.ranges.begin(), operation->second.ranges.end(),
                           [&](const Range& placed) {
                               return placed.area == range.area && placed.begin < range.end &&
                                      range.begin < placed.end;
                           });
    };
    const Connection& pushed = found->second;
    return std::any_of(pushed.in_adapter.list.begin(), pushed.in_adapter.list.end(), touches) ||
           std::any_of(pushed.visible.list.begin(), pushed.visible.list.end(), touches);
}

// The lists stay as they are: what lies outside of the range may still need them.
void Model::flush(std::uint32_t connection, const Range& range, bool persistent) {
    const auto found = connections_.find(connection);
    if (found == connections_.end()) {
        return;
    }
    const bool durable = persistent || platform_.caches_survive();
    start_recording(connection);
    auto numbers = found->second.visible.list;
    const auto& adapter = found->second.in_adapter.list;
    numbers.insert(numbers.end(), adapter.begin(), adapter.end());
    for (const std::uint64_t number : numbers) {
        Operation* const operation = find(number);
        if (operation == nullptr) {
            continue;
        }
        operation->marks |= persistent ? kReadBehind : kVisibleFlush;
        hold(operation);
        for (const Range& placed : operation->ranges) {
            const std::uint64_t begin = std::max(placed.begin, range.begin);
            const std::uint64_t end = std::min(placed.end, range.end);
            if (placed.area == range.area && begin < end) {
                advance(*operation, range.area, begin, end, durable);
            }
        }
        drop(operation);
    }
    recording_ = false;
    std::erase_if(found->second.in_adapter.list,
                  [this](std::uint64_t number) { return !at_risk(number); });
}

// Pieces of the operation in the range are visible now, or durable.
void Model::advance(Operation& operation, std::uint32_t area, std::uint64_t begin,
                    std::uint64_t end, bool durable) {
    operation.stage = Stage::Visible;
    Area& there = *areas_[area];
    ++moment_;
    hold(&operation);
    if (!there.buried.empty()) {
        advance_buried(operation, there, begin, end, durable);
    }
    advance_pieces(operation, there, begin, end, durable);
    drop(&operation);
}

void Model::advance_pieces(const Operation& operation, Area& area, std::uint64_t begin,
                           std::uint64_t end, bool durable) {
    auto at = area.first_behind(begin);
    while (at != area.pieces.end() && at->first < end) {
        const std::uint64_t from = std::max(at->first, begin);
        const std::uint64_t to = std::min(at->second.end, end);
        const bool known = at->second.stage == Stage::Visible && !durable;
        if (at->second.operation != &operation || at->second.stage == Stage::Arriving || known) {
            ++at;
        } else if (durable) {
            settle(area, from, to);
            at = area.first_behind(to);
        } else if (from == at->first && to == at->second.end) {
            at->second.stage = Stage::Visible;
            at->second.since = moment_;
            ++at;
        } else {  // only a part of it
            Piece piece = at->second;
            piece.end = to;
            piece.stage = Stage::Visible;
            piece.since = moment_;
            hold(piece.operation);
            cut_out(area, from, to);
            area.pieces[from] = piece;
            at = area.first_behind(to);
        }
    }
}

// --- limits ---

void Model::make_room() {
    while (operations_.size() >= limits_.operations && operations_.begin()->second.references > 0) {
        const std::size_t before = operations_.size();
        drop_oldest();
        if (operations_.size() == before) {
            return;  // it is arriving
        }
    }
}

// Caches write back by themselves; so may this one.
void Model::drop_oldest() {
    Operation& oldest = operations_.begin()->second;
    if (oldest.stage == Stage::Arriving) {
        return;
    }
    ++usage_.operations_dropped;
    const auto ranges = oldest.ranges;
    hold(&oldest);
    for (const Range& range : ranges) {
        advance(oldest, range.area, range.begin, range.end, true);
    }
    drop(&oldest);
}

}  // namespace fabric::memory::persistence
