// SPDX-License-Identifier: BSD-3-Clause
// The account of this process: which memory it is kept of, its events in order, and the power
// failure that may be due. Everything but find() is called with the lock held.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "memory/persistence/files.hpp"
#include "memory/persistence/model.hpp"
#include "memory/persistence/report.hpp"
#include "memory/persistence/settings.hpp"
#include "memory/region.hpp"

namespace fabric::memory::persistence {

class Tracker {
public:
    // Only if there is a platform.
    static Tracker& instance();

    std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
    // False in a forked child: the account is the parent's.
    bool ours() const;

    Model& model() { return model_; }
    Notes& notes() { return notes_; }
    std::uint64_t events() const { return events_; }
    std::uint64_t nanoseconds() const;
    Situation situation(const char* occasion) const;

    void add(const Region& region);
    // What of the memory is kept account of; adds to `out`.
    void find(const void* address, std::uint64_t length, std::vector<Range>& out) const;
    void find_file(dev_t device, ino_t inode, std::vector<Range>& out) const;

    // A counted event is about to take effect; the power may fail here.
    void step(const char* what, std::uint32_t connection, const Range* range = nullptr);
    // A read or flush has taken effect; the power may fail here.
    void flush_done();
    // The program ends; the power may fail here, too.
    void finish();
    // The connection that is overtaken if the power fails at the next step; 0: none.
    void overtaking(std::uint32_t connection);

    [[noreturn]] void fail_power(const char* occasion, std::uint64_t seed);
    // At the end of a connection: what is not durable may never be.
    void report_connection(std::uint32_t connection);
    // Rewrites the report's file, if there is one; if there is none, prints what is wrong.
    Totals write_report(const char* occasion);

private:
    struct Mapped {
        std::uintptr_t begin;
        std::uintptr_t end;
        std::uint64_t offset;
        dev_t device;
        ino_t inode;
    };
    struct Part {  // of a file: an area
        dev_t device;
        ino_t inode;
        std::uint64_t begin;
        std::uint64_t end;
    };

    explicit Tracker(const Settings& settings);
    void start();
    void remember(const Mapped& mapping);
    void cover(const FileMapping& mapping, std::uint64_t begin, std::uint64_t end);
    void add_part(const FileMapping& mapping, std::uint64_t begin, std::uint64_t end);
    void leave_out(const FileMapping& mapping, std::uint64_t length, const char* why);
    void find_part(dev_t device, ino_t inode, std::uint64_t begin, std::uint64_t end,
                   std::vector<Range>& out) const;
    void log_point(const char* what, std::uint32_t connection, const Range* range, bool has_state);

    const Settings& settings_;
    std::mutex mutex_;
    Model model_;
    Notes notes_;
    std::vector<Mapped> mapped_;
    std::vector<Part> parts_;  // by number of the area
    std::uint64_t account_bytes_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t flushes_ = 0;
    std::chrono::steady_clock::time_point since_;
    int process_ = 0;
    int events_file_ = -1;
};

}  // namespace fabric::memory::persistence
