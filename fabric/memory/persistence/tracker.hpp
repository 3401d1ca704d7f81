// SPDX-License-Identifier: BSD-3-Clause
// The account of this process: which memory it is kept of, its events in order, and the power
// failure that may be due. Everything but find() is called with the lock held.
#pragma once

#include <array>
#include <atomic>
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
    // The same; a forked child begins an account of its own when it uses the device.
    static Tracker& of_this_process();

    std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
    // Holds nothing if no account has begun here. In a forked child it is the parent's, and so may
    // be the lock.
    std::unique_lock<std::mutex> lock_if_ours() {
        return ours() ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
    }
    bool ours() const;

    Model& model() { return model_; }
    Notes& notes() { return notes_; }
    std::uint64_t events() const { return events_; }
    std::uint64_t nanoseconds() const;
    Situation situation(const char* occasion) const;

    void add(const Region& region);
    void remove(const Region& region);
    // What of the memory is kept account of; add to `out`. Files may have grown or shrunk: account
    // is kept of what is there now. Of registered memory; gives the number of bytes:
    std::uint64_t find_current(const void* address, std::uint64_t length, std::vector<Range>& out);
    // Of any mapping of the files:
    void find_anywhere(const void* address, std::uint64_t length, std::vector<Range>& out);
    void find_file(dev_t device, ino_t inode, std::vector<Range>& out);
    void find_file_system(dev_t device, std::vector<Range>& out);
    void follow_files();

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
        const Region* region;
        std::uintptr_t begin;
        std::uintptr_t end;
        std::uint64_t offset;
        dev_t device;
        ino_t inode;
    };
    struct Part {  // of a file: an area
        FileMapping mapping;
        std::uint64_t begin;
        std::uint64_t end;
        std::uint64_t wanted;  // the end if the file were long enough
        View view;

        bool is_of(dev_t device, ino_t inode) const {
            return mapping.device == device && mapping.inode == inode;
        }
    };

    explicit Tracker(const Settings& settings);
    static Tracker& replace_instance(Tracker* old);
    void start();
    void cover(const FileMapping& mapping, std::uint64_t begin, std::uint64_t end);
    void add_part(const FileMapping& mapping, std::uint64_t begin, std::uint64_t end);
    void leave_out(const FileMapping& mapping, std::uint64_t length, const char* why);
    void follow_file(std::uint32_t number);
    void grow(std::uint32_t number);
    void find(std::uintptr_t begin, std::uintptr_t end, std::vector<Range>& out,
              std::vector<Extent>& unknown);
    void find_part(dev_t device, ino_t inode, std::uint64_t begin, std::uint64_t end,
                   std::vector<Range>& out);
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
    std::atomic<int> process_ = 0;
    int events_file_ = -1;
};

}  // namespace fabric::memory::persistence
