// SPDX-License-Identifier: BSD-3-Clause
#include "memory/persistence/door.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>

#include "log.hpp"
#include "memory/pages.hpp"
#include "memory/persistence/tracker.hpp"

namespace fabric::memory::persistence {

bool detail::enabled = settings().platform.has_value();
thread_local int Inside::depth = 0;

namespace {

constexpr std::uint8_t kPersistent = 2;
constexpr std::uint32_t kProbe = 8;  // a read of so few bytes is taken for a flush

// What a thread has written back without a fence, and which operations it could see then.
struct Flushed {
    Range range;
    std::uint64_t last = 0;  // moment
};
constexpr std::size_t kMaxFlushed = 262144;

std::vector<Flushed>& flushed_by_thread() {
    static thread_local std::vector<Flushed> list;
    return list;
}

// Once, and only in a process that uses the device.
void complain() {
    static std::atomic_flag said;
    const std::string& complaint = settings().complaint;
    if (!complaint.empty() && !said.test_and_set()) {
        log(LogLevel::Error, "%s; no account of persistent memory is kept", complaint.c_str());
    }
}

void note(Notes::Useless& useless, const Range& range, std::uint32_t connection) {
    const Tracker& tracker = Tracker::instance();
    if (useless.count < Notes::Useless::kShown) {
        useless.first[useless.count] = {tracker.events(), tracker.nanoseconds(), connection, range};
    }
    ++useless.count;
}

void persist(Tracker& tracker, const Range& range, std::uint64_t last, bool whole_pages) {
    if (tracker.model().persist_matters(range)) {
        tracker.step("the CPU persists", 0, &range);
    } else if (!whole_pages) {
        note(tracker.notes().persists, range, 0);
    }
    tracker.model().persist(range, last);
}

void persist_written_back(Tracker& tracker, const std::vector<Range>& ranges) {
    for (const Range& range : ranges) {
        persist(tracker, range, ~0ULL, true);
    }
}

std::vector<Range> ranges_of(Tracker& tracker, const void* address, std::size_t length) {
    std::vector<Range> ranges;
    tracker.find_anywhere(address, length, ranges);
    return ranges;
}

// A loop over adjacent lines makes one of them.
void remember(std::vector<Flushed>& list, const Range& range, std::uint64_t moment) {
    if (!list.empty()) {
        Range& before = list.back().range;
        if (list.back().last == moment && before.area == range.area &&
            before.begin <= range.begin && range.begin <= before.end) {
            before.end = std::max(before.end, range.end);
            return;
        }
    }
    if (list.size() < kMaxFlushed) {
        list.push_back({range, moment});
    } else if (list.size() == kMaxFlushed) {
        list.push_back({});  // so that it is said once
        log(LogLevel::Error,
            "more than %zu ranges were flushed and not drained by a thread; the others count as "
            "not flushed",
            kMaxFlushed);
    }
}

}  // namespace

void registered(const Region& region) {
    if (!on()) {
        complain();
        return;
    }
    if (!region.shared_file || (region.access & IBV_ACCESS_LOCAL_WRITE) == 0) {
        return;
    }
    Tracker& tracker = Tracker::of_this_process();
    const auto guard = tracker.lock();
    tracker.add(region);
}

void deregistered(const Region& region) {
    if (on() && region.shared_file) {
        Tracker& tracker = Tracker::instance();
        if (const auto guard = tracker.lock_if_ours()) {
            tracker.remove(region);
        }
    }
}

Operation* placing(std::uint32_t connection, Kind kind, Target target) {
    Tracker& tracker = Tracker::instance();
    const auto guard = tracker.lock_if_ours();
    if (!guard) {
        return nullptr;
    }
    static thread_local std::vector<Range> ranges;
    ranges.clear();
    for (const Segment& segment : target) {
        const std::uint64_t found =
            segment.region != nullptr && segment.region->shared_file
                ? tracker.find_current(segment.address, segment.length, ranges)
                : 0;
        if (segment.region != nullptr && kind < Kind::Send) {
            tracker.notes().volatile_bytes += segment.length - found;
        }
    }
    if (ranges.empty()) {
        return nullptr;
    }
    tracker.step(kind == Kind::ReadResult ? "own read" : "write", connection, &ranges.front());
    return tracker.model().begin(connection, kind, ranges, tracker.events(), tracker.nanoseconds());
}

void placed(Operation* operation, bool whole, bool overtakes) {
    Tracker& tracker = Tracker::instance();
    const auto guard = tracker.lock();
    const std::uint32_t connection = operation->connection;
    tracker.model().end(operation, whole);
    if (whole && overtakes && tracker.model().overtaking_matters(connection)) {
        tracker.overtaking(connection);
    }
}

void read_executed(std::uint32_t connection, std::uint32_t length) {
    Tracker& tracker = Tracker::instance();
    const auto guard = tracker.lock_if_ours();
    if (!guard) {
        return;
    }
    tracker.follow_files();
    if (tracker.model().read_matters(connection)) {
        tracker.step("read", connection);
    } else if (length <= kProbe) {
        note(tracker.notes().flushes, {}, connection);
    }
    tracker.model().read(connection);
    tracker.flush_done();
}

void flush_executed(std::uint32_t connection, const Segment& range, std::uint8_t type) {
    Tracker& tracker = Tracker::instance();
    const auto guard = tracker.lock_if_ours();
    if (!guard) {
        return;
    }
    bool matters = false;
    const std::vector<Range> ranges = ranges_of(tracker, range.address, range.length);
    for (const Range& there : ranges) {
        if (tracker.model().flush_matters(connection, there)) {
            tracker.step("flush", connection, &there);
            matters = true;
        }
        tracker.model().flush(connection, there, (type & kPersistent) != 0);
    }
    if (!matters) {
        note(tracker.notes().flushes, ranges.empty() ? Range{} : ranges.front(), connection);
    }
    tracker.flush_done();
}

void message_completed(std::uint32_t connection) {
    Tracker& tracker = Tracker::instance();
    const auto guard = tracker.lock_if_ours();
    if (guard && tracker.model().message_matters(connection)) {
        tracker.follow_files();
        tracker.step("message", connection);
        tracker.model().message(connection);
    }
}

// Of a connection that nothing persistent was written by, nothing is said.
void connection_ended(std::uint32_t connection) {
    Tracker& tracker = Tracker::instance();
    const auto guard = tracker.lock_if_ours();
    if (!guard) {
        return;
    }
    tracker.follow_files();
    if (tracker.model().message_matters(connection)) {
        tracker.step("end of the connection", connection);
    }
    tracker.model().connection_ends(connection);
    tracker.report_connection(connection);
}

void persisted(const void* address, std::size_t length) {
    Tracker& tracker = Tracker::instance();
    const auto guard = tracker.lock_if_ours();
    if (!guard) {
        return;
    }
    for (const Range& range : ranges_of(tracker, address, length)) {
        persist(tracker, range, ~0ULL, false);
    }
}

void persisted_pages(const void* address, std::size_t length) {
    const PageRange pages = pages_of(address, length);
    const std::size_t whole = (pages.length + page_size() - 1) & ~(page_size() - 1);
    Tracker& tracker = Tracker::instance();
    const auto guard = tracker.lock_if_ours();
    if (!guard) {
        return;
    }
    persist_written_back(tracker, ranges_of(tracker, pages.begin, whole));
}

void persisted_file(int fd) {
    struct stat file {};
    Tracker& tracker = Tracker::instance();
    const auto guard = tracker.lock_if_ours();
    if (!guard || fstat(fd, &file) != 0) {
        return;
    }
    std::vector<Range> ranges;
    tracker.find_file(file.st_dev, file.st_ino, ranges);
    persist_written_back(tracker, ranges);
}

void persisted_file_system(int fd) {
    struct stat file {};
    Tracker& tracker = Tracker::instance();
    const auto guard = tracker.lock_if_ours();
    if (!guard || fstat(fd, &file) != 0) {
        return;
    }
    std::vector<Range> ranges;
    tracker.find_file_system(file.st_dev, ranges);
    persist_written_back(tracker, ranges);
}

void persisted_everything() {
    Tracker& tracker = Tracker::instance();
    const auto guard = tracker.lock_if_ours();
    if (!guard) {
        return;
    }
    tracker.follow_files();
    for (std::uint32_t area = 0; area < tracker.model().areas().size(); ++area) {
        persist(tracker, {area, 0, tracker.model().area(area).length}, ~0ULL, true);
    }
}

void flushed(const void* address, std::size_t length) {
    Tracker& tracker = Tracker::instance();
    const auto guard = tracker.lock_if_ours();
    auto& list = flushed_by_thread();
    if (!guard) {
        return;
    }
    for (const Range& range : ranges_of(tracker, address, length)) {
        tracker.model().mark_flushed(range);
        remember(list, range, tracker.model().moment());
    }
}

void drained() {
    Tracker& tracker = Tracker::instance();
    const auto guard = tracker.lock_if_ours();
    if (!guard) {
        return;
    }
    auto& list = flushed_by_thread();
    tracker.follow_files();
    for (const Flushed& one : list) {
        if (one.range.end != 0) {
            persist(tracker, one.range, one.last, false);
        }
    }
    list.clear();
}

void declared_direct_write() {
    Tracker& tracker = Tracker::of_this_process();
    const auto guard = tracker.lock();
    if (!tracker.model().platform().read_persists()) {
        ++tracker.notes().declared;
    }
}

}  // namespace fabric::memory::persistence
