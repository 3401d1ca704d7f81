// SPDX-License-Identifier: BSD-3-Clause
#include "memory/persistence/finding.hpp"

#include <array>

namespace fabric::memory::persistence {

namespace {

constexpr Reason kStored = {"not-persisted-store", "stored by the target's CPU and not persisted",
                            "persist the range that was stored to"};
constexpr Reason kNoFlush = {
    "no-flush", "acknowledged as arrived, but no read or flush followed on its connection",
    "flush behind the last write and wait for the flush's completion"};
constexpr Reason kVisibleFlushOnly = {
    "visible-only", "a flush behind it asked for visibility only",
    "flush with the persistent type, or have the target's CPU persist it"};
constexpr Reason kReadIsNotEnough = {
    "visible-only",
    "a read behind it completed, which with DDIO on makes it visible only: it lies in the target's "
    "cache",
    "have the target's CPU persist it and wait for its answer; do not declare direct write to "
    "persistent memory on this platform"};
constexpr Reason kTooEarlyReason = {
    "persisted-too-early",
    "the target's CPU persisted the range before a read, flush or message behind the write had "
    "made it visible",
    "persist when the message that tells of the write has been received on the same connection"};
constexpr Reason kNotDrained = {"not-drained", "the target's CPU flushed it, but did not drain",
                                "drain after the flushes, before the answer"};
constexpr Reason kWrongRange = {
    "wrong-range", "the target's CPU persisted, but another range",
    "persist all that was written: offset and length as the initiator tells them"};
constexpr Reason kNotPersisted = {
    "not-persisted",
    "the target's program has been told of it by a message, but its CPU has not persisted it",
    "persist before answering"};
constexpr Reason kEnded = {
    "connection-ended",
    "its connection ended before anything flushed it; a flush on another connection does not "
    "cover it",
    "after reconnecting write again what no flush of the old connection had covered"};
constexpr Reason kResult = {"not-persisted",
                            "read into persistent memory, and not persisted by the CPU",
                            "persist the range after the read has completed"};

bool persisted_since(const Operation& operation, std::uint32_t area, const Model& model) {
    const auto last = model.last_persisted(area);
    return last && last->operations >= operation.number;
}

const Reason& reason_when_visible(const Operation& operation, std::uint32_t area,
                                  const Model& model) {
    if (operation.kind == Kind::ReadResult) {
        return kResult;
    }
    if ((operation.marks & kFlushedOnly) != 0) {
        return kNotDrained;
    }
    if ((operation.marks & (kReadBehind | kMessageBehind)) != 0 &&
        persisted_since(operation, area, model)) {
        return kWrongRange;
    }
    if ((operation.marks & kMessageBehind) != 0) {
        return kNotPersisted;
    }
    if ((operation.marks & kReadBehind) != 0) {
        return kReadIsNotEnough;
    }
    return (operation.marks & kVisibleFlush) != 0 ? kVisibleFlushOnly : kEnded;
}

}  // namespace

const Reason& reason_of(const Operation* operation, std::uint32_t area, const Model& model) {
    if (operation == nullptr) {
        return kStored;
    }
    if ((operation->marks & kTooEarly) != 0) {
        return kTooEarlyReason;
    }
    return operation->stage == Stage::Visible ? reason_when_visible(*operation, area, model)
                                              : kNoFlush;
}

const char* name_of(Kind kind) {
    constexpr std::array kNames = {"write",         "write with immediate",
                                   "atomic write",  "compare and swap",
                                   "fetch and add", "send",
                                   "read"};
    return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace fabric::memory::persistence
