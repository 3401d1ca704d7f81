// SPDX-License-Identifier: BSD-3-Clause
#include "slots.hpp"

#include <endian.h>

#include <cstring>

#include "pattern.hpp"
#include "persist_message.hpp"

namespace perf {

std::uint64_t operation_seed(std::uint64_t connection, std::uint64_t slot, std::uint64_t sequence,
                             std::uint64_t operation) {
    static_assert(kMaxDepth < 1U << 16);
    return pattern_seed(connection, slot, sequence << 16 | operation);
}

SlotTable::SlotTable(const Case& point, std::size_t connection)
    : point_(point),
      layout_(point),
      connection_(connection),
      memory_(layout_.local_size()),
      slots_(layout_.slots()) {
    for (std::size_t i = 0; i < slots_.size(); i++) {
        fill_pattern(memory_.at(layout_.local_data(i)), layout_.batch_bytes(),
                     pattern_seed(connection, i, 0));
        const PersistMessage message =
            make_persist_message(layout_.remote_data(connection, i), layout_.batch_bytes());
        std::memcpy(memory_.at(layout_.request(i)), &message, sizeof(message));
    }
}

void SlotTable::begin(std::size_t index) {
    Slot& slot = slots_[index];
    slot.sequence++;
    slot.checking = false;
    const std::uint64_t word = htole64(slot.sequence);
    std::memcpy(slot.commit_word, &word, sizeof(word));
    if (!point_.verify || point_.op == Op::read) {
        return;
    }
    for (std::size_t i = 0; i < layout_.batch(); i++) {
        fill_pattern(memory_.at(layout_.local_data(index) + i * layout_.size()), layout_.size(),
                     operation_seed(connection_, index, slot.sequence, i));
    }
}

Batch SlotTable::batch(std::size_t index) const {
    const std::size_t remote = layout_.remote_data(connection_, index);
    return {index,
            layout_.batch(),
            layout_.size(),
            layout_.local_data(index),
            remote,
            remote + layout_.commit_in_slot(),
            layout_.request(index),
            layout_.reply(index),
            point_.flush,
            slots_[index].commit_word};
}

void SlotTable::check_operations_at(std::size_t offset, std::size_t index, std::uint64_t sequence) {
    for (std::size_t i = 0; i < layout_.batch(); i++) {
        verified_.mismatches +=
            count_mismatches(memory_.at(offset + i * layout_.size()), layout_.size(),
                             operation_seed(connection_, index, sequence, i));
    }
    verified_.bytes += layout_.batch_bytes();
}

void SlotTable::check_read_back(std::size_t index) {
    const std::size_t copy = layout_.check_copy(index);
    check_operations_at(copy, index, slots_[index].sequence);
    if (point_.op == Op::commit) {
        const char* const word = memory_.at(copy + layout_.commit_in_slot());
        for (std::size_t i = 0; i < kCommitSize; i++) {
            verified_.mismatches += word[i] != slots_[index].commit_word[i] ? 1U : 0U;
        }
        verified_.bytes += kCommitSize;
    }
}

}  // namespace perf
