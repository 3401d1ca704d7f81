// SPDX-License-Identifier: BSD-3-Clause
// Writes are posted, reads and flushes are not: a write behind one may be executed first.
#include <algorithm>
#include <cstring>

#include "memory/persistence/model.hpp"

namespace fabric::memory::persistence {

bool Model::overtaking_matters(std::uint32_t connection) const {
    return revocable_connection_ == connection && !revocable_.empty();
}

void Model::start_recording(std::uint32_t connection) {
    forget_revocable();
    revocable_connection_ = connection;
    recording_ = true;
}

void Model::forget_revocable() {
    revocable_.clear();
    revocable_bytes_ = 0;
}

// Of bytes that become durable by a read or flush: what the image held, and whose they are.
void Model::record(Area& area, std::uint64_t begin, std::uint64_t end) {
    if (revocable_bytes_ + (end - begin) > limits_.buried_bytes) {
        ++usage_.versions_dropped;
        return;
    }
    revocable_bytes_ += end - begin;
    const auto number = static_cast<std::uint32_t>(
        std::find_if(areas_.begin(), areas_.end(),
                     [&](const auto& one) { return one.get() == &area; }) -
        areas_.begin());
    for (auto at = area.first_behind(begin); at != area.pieces.end() && at->first < end; ++at) {
        const std::uint64_t from = std::max(begin, at->first);
        const std::uint64_t to = std::min(end, at->second.end);
        revocable_.push_back(
            {number, from, {area.image + from, area.image + to}, *at->second.operation});
    }
}

void Model::take_back(std::uint32_t connection) {
    if (!overtaking_matters(connection)) {
        return;
    }
    for (const Revocable& piece : revocable_) {
        put_back(piece);
    }
    forget_revocable();
}

// Where something newer lies now, that stays on top.
void Model::put_back(const Revocable& piece) {
    Area& area = *areas_[piece.area];
    const std::uint64_t end = piece.begin + piece.image.size();
    std::memcpy(area.image + piece.begin, piece.image.data(), piece.image.size());
    const auto [at, fresh] = operations_.try_emplace(piece.operation.number, piece.operation);
    Operation& operation = at->second;
    if (fresh) {
        operation.references = 0;
    }
    hold(&operation);
    std::uint64_t position = piece.begin;
    while (position < end) {
        const auto next = area.first_behind(position);
        const bool none = next == area.pieces.end() || next->first >= end;
        if (none || next->first > position) {
            const std::uint64_t to = none ? end : next->first;
            area.pieces[position] = {to, &operation, Stage::Adapter};
            hold(&operation);
            position = to;
        } else {
            position = next->second.end;
        }
    }
    drop(&operation);
}

}  // namespace fabric::memory::persistence
