// SPDX-License-Identifier: BSD-3-Clause
// The batches in flight of one connection: their state, their bytes, and whether the bytes are
// right.
#pragma once

#include <cstdint>
#include <vector>

#include "buffer.hpp"
#include "case.hpp"
#include "layout.hpp"
#include "workloads/batch.hpp"

namespace perf {

// How many bytes were compared and how many were wrong.
struct Verified {
    std::uint64_t bytes = 0;
    std::uint64_t mismatches = 0;
    void add(const Verified& other) {
        bytes += other.bytes;
        mismatches += other.mismatches;
    }
};

struct Slot {
    std::uint64_t sequence = 0;  // how often it was used
    std::uint64_t posted_ns = 0;
    std::uint32_t pending = 0;  // completions still to come
    bool checking = false;      // what is in flight is a read for comparison
    char commit_word[kCommitSize] = {};
};

// The pattern of one operation; sequence 0 is what a target's memory holds at first.
std::uint64_t operation_seed(std::uint64_t connection, std::uint64_t slot, std::uint64_t sequence,
                             std::uint64_t operation);

class SlotTable {
public:
    SlotTable(const Case& point, std::size_t connection);

    [[nodiscard]] const Layout& layout() const { return layout_; }
    [[nodiscard]] const Buffer& memory() const { return memory_; }
    [[nodiscard]] std::size_t connection() const { return connection_; }
    [[nodiscard]] std::size_t size() const { return slots_.size(); }
    Slot& operator[](std::size_t index) { return slots_[index]; }
    [[nodiscard]] const Verified& verified() const { return verified_; }

    // A new use of a slot: its commit word, and with --verify its data.
    void begin(std::size_t index);
    [[nodiscard]] Batch batch(std::size_t index) const;

    // Compare what came with what was expected.
    void check_read_back(std::size_t index);
    void check_operations_at(std::size_t offset, std::size_t index, std::uint64_t sequence);

private:
    Case point_;
    Layout layout_;
    std::size_t connection_;
    Buffer memory_;
    std::vector<Slot> slots_;
    Verified verified_;
};

}  // namespace perf
