// SPDX-License-Identifier: BSD-3-Clause
// The account of what a power failure would leave: areas, operations and the events that move them
// (doc/persistence-model.md). Pure: no sockets, no threads, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory/persistence/area.hpp"
#include "memory/persistence/platform.hpp"

namespace fabric::memory::persistence {

struct Limits {
    std::size_t operations = 262144;  // at risk
    std::size_t buried_bytes = 64ULL << 20;
};

// Of the model itself, for the report.
struct Usage {
    std::size_t operations = 0;
    std::size_t peak_operations = 0;
    std::size_t buried_lines = 0;
    std::uint64_t versions_dropped = 0;    // older contents that are not explored
    std::uint64_t operations_dropped = 0;  // counted as written back
};

class Model {
public:
    explicit Model(const Platform& platform, const Limits& limits = {});
    ~Model();
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    // `image` holds the durable content; both are the caller's and outlive the model.
    std::uint32_t add_area(std::string name, std::byte* memory, std::byte* image,
                           std::uint64_t length, std::uint64_t file_offset);

    // The end of an area is gone, and what lay there.
    void shrink(std::uint32_t area, std::uint64_t length);
    // The same area, and more of it: the durable content of what is known is copied.
    void replace(std::uint32_t area, std::byte* memory, std::byte* image, std::uint64_t length);

    // --- operations; connection 0: reads of this process ---
    // Before the first byte of a packet's payload is placed.
    Operation* begin(std::uint32_t connection, Kind kind, std::span<const Range> ranges,
                     std::uint64_t event, std::uint64_t time);
    // `placed`: all of it is there; else its bytes are of no account.
    void end(Operation* operation, bool placed);

    // --- events of a connection ---
    bool read_matters(std::uint32_t connection) const;  // would read() change anything?
    void read(std::uint32_t connection);
    bool message_matters(std::uint32_t connection) const;
    void message(std::uint32_t connection);
    bool flush_matters(std::uint32_t connection, const Range& range) const;
    void flush(std::uint32_t connection, const Range& range, bool persistent);
    // A write has overtaken the last read or flush of the connection, which may not have finished.
    // For a power failure at this moment: what it made durable is at risk again.
    bool overtaking_matters(std::uint32_t connection) const;
    void take_back(std::uint32_t connection);
    void connection_ends(std::uint32_t connection);
    bool knows(std::uint32_t connection) const;  // something of it is at risk

    // --- the target's CPU ---
    // Would persisting the range change anything?
    bool persist_matters(const Range& range) const;
    // Of operations only what was visible at the moment `last` is taken.
    void persist(const Range& range, std::uint64_t last = ~0ULL);
    void mark_flushed(const Range& range);  // by the CPU; not drained yet

    // --- what is at risk ---
    const Platform& platform() const { return platform_; }
    std::span<const std::unique_ptr<Area>> areas() const { return areas_; }
    Area& area(std::uint32_t number) const { return *areas_[number]; }
    const std::map<std::uint64_t, Operation>& operations() const { return operations_; }
    std::uint64_t last_operation() const { return next_number_ - 1; }
    std::uint64_t moment() const { return moment_; }  // grows when something becomes visible
    const Usage& usage() const { return usage_; }
    // As long as it is the same, so are the durable images.
    std::uint64_t image_changes() const { return image_changes_; }

    // The latest range that the CPU persisted in an area, and what operations there were then.
    struct Persisted {
        Range range;
        std::uint64_t operations = 0;
    };
    std::optional<Persisted> last_persisted(std::uint32_t area) const;

private:
    // What the last read or flush made durable: the image before it, and whose bytes these were.
    struct Revocable {
        std::uint32_t area = 0;
        std::uint64_t begin = 0;
        std::vector<std::byte> image;
        Operation operation;
    };
    struct Numbers {  // of operations; some may be durable by now
        std::vector<std::uint64_t> list;
        std::size_t prune_at = 64;
    };
    struct Connection {
        Numbers in_adapter;
        Numbers visible;  // that a flush, or a read, may still make durable
    };
    using Pieces = std::map<std::uint64_t, Piece>;

    Operation* find(std::uint64_t number);
    bool at_risk(std::uint64_t number) const { return operations_.contains(number); }
    void add_number(Numbers& numbers, std::uint64_t number);
    void hold(Operation* operation);
    void drop(Operation* operation);
    void cover(const Range& range);
    void cover_stores(Area& area, std::uint64_t begin, std::uint64_t end);
    void abandon(const Operation& operation, Area& area, const Range& range);
    void uncover(Area& area, std::uint64_t line, std::uint64_t mask);
    void uncover_version(Area& area, std::uint64_t line, const Version& version,
                         std::uint64_t mask);
    void record(Area& area, std::uint64_t begin, std::uint64_t end);
    void put_back(const Revocable& piece);
    void forget_revocable();
    void start_recording(std::uint32_t connection);
    void bury(Area& area, std::uint64_t begin, std::uint64_t end, const Piece& piece);
    void bury_in_line(Area& area, std::uint64_t line, std::uint64_t mask, const Piece& piece);
    Pieces::iterator cut_out(Area& area, std::uint64_t begin, std::uint64_t end);
    void settle(Area& area, std::uint64_t begin, std::uint64_t end);
    void forget_buried(Area& area, std::uint64_t begin, std::uint64_t end);
    void forget_versions(Area& area, std::uint64_t line, std::uint64_t mask, std::size_t below);
    void settle_version(Area& area, std::uint64_t line, Buried& buried, std::size_t index,
                        std::uint64_t mask);
    bool show_version(Buried& buried, std::size_t index, std::uint64_t mask);
    void advance(Operation& operation, std::uint32_t area, std::uint64_t begin, std::uint64_t end,
                 bool durable);
    void advance_pieces(const Operation& operation, Area& area, std::uint64_t begin,
                        std::uint64_t end, bool durable);
    void advance_buried(const Operation& operation, Area& area, std::uint64_t begin,
                        std::uint64_t end, bool durable);
    bool advance_version(const Operation& operation, Area& area, std::uint64_t line,
                         std::uint64_t mask, bool durable);
    void push(std::uint32_t connection, bool durable, std::uint8_t mark);
    void push_list(const std::vector<std::uint64_t>& numbers, bool durable, std::uint8_t mark);
    bool persist_version(Area& area, std::uint64_t line, std::uint64_t mask, std::uint64_t last);
    std::uint64_t persist_piece(Area& area, std::uint64_t begin, std::uint64_t end,
                                std::uint64_t last, Pieces::iterator at);
    void persist_below(Area& area, std::uint64_t begin, std::uint64_t end, std::uint64_t last);
    void make_room();
    void drop_oldest();

    const Platform platform_;
    const Limits limits_;
    std::vector<std::unique_ptr<Area>> areas_;
    std::map<std::uint64_t, Operation> operations_;  // by number, so oldest first
    std::unordered_map<std::uint32_t, Connection> connections_;
    std::vector<Persisted> last_persisted_;
    // Of one connection at a time: whatever else becomes durable ends it.
    std::vector<Revocable> revocable_;
    std::uint64_t revocable_bytes_ = 0;
    std::uint32_t revocable_connection_ = 0;
    bool recording_ = false;
    std::uint64_t next_number_ = 1;
    std::uint64_t moment_ = 0;
    std::uint64_t image_changes_ = 0;
    Usage usage_;
};

}  // namespace fabric::memory::persistence
