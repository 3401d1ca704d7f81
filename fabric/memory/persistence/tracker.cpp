// SPDX-License-Identifier: BSD-3-Clause
#include "memory/persistence/tracker.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "log.hpp"
#include "memory/pages.hpp"
#include "memory/persistence/control.hpp"
#include "memory/persistence/power_failure.hpp"

namespace fabric::memory::persistence {

namespace {

constexpr mode_t kReportMode = 0666;  // less the umask
constexpr int kExitFindings = 123;
constexpr std::uint64_t kRiskShown = 1000;

bool wants_json(const std::string& file) {
    return file.ends_with(".json");
}

// The program's own status stays, unless it says that all went well.
void at_exit(int status, void*) {
    Tracker& tracker = Tracker::instance();
    if (!tracker.ours()) {
        return;
    }
    Totals totals;
    {
        const auto guard = tracker.lock();
        tracker.finish();
        totals = tracker.write_report("exit");
    }
    if (status == 0 && !totals.clean()) {
        std::fflush(nullptr);
        _exit(kExitFindings);
    }
}

int open_events_file() {
    const char* const name = std::getenv("RPMA_FABRIC_EVENTS");
    return name == nullptr || *name == '\0'
               ? -1
               : open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kReportMode);
}

}  // namespace

// Never destroyed: other threads may use it until the process has ended.
Tracker& Tracker::instance() {
    static auto* const tracker = new Tracker(settings());
    return *tracker;
}

Tracker::Tracker(const Settings& settings) : settings_(settings), model_(*settings.platform) {}

bool Tracker::ours() const {
    return process_ == getpid();
}

std::uint64_t Tracker::nanoseconds() const {
    const auto passed = std::chrono::steady_clock::now() - since_;
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count());
}

Situation Tracker::situation(const char* occasion) const {
    return {model_, notes_, occasion, events_, flushes_, nanoseconds()};
}

// --- memory ---

// With the first area the account begins.
void Tracker::start() {
    process_ = getpid();
    since_ = std::chrono::steady_clock::now();
    events_file_ = open_events_file();
    if (events_file_ >= 0) {
        Writer(events_file_).print("# process %d\n", process_);
    }
    on_exit(at_exit, nullptr);
    const auto& when = settings_.power_fail;
    start_control(when.when == PowerFail::When::Time ? static_cast<int>(when.value) : -1);
}

void Tracker::add(const Region& region) {
    const PageRange pages = pages_of(region.base, region.length);
    for (const FileMapping& mapping : file_mappings(pages.begin, pages.length)) {
        const auto first = reinterpret_cast<std::uintptr_t>(pages.begin);
        const std::uintptr_t last = (first + pages.length + page_size() - 1) & ~(page_size() - 1);
        const auto [begin, end] = widened(mapping, first, last);
        const std::uint64_t offset = mapping.offset + (begin - mapping.begin);
        remember({begin, end, offset, mapping.device, mapping.inode});
        cover(mapping, offset, offset + (end - begin));
    }
}

// What was mapped there before is so no more.
void Tracker::remember(const Mapped& mapping) {
    std::erase_if(mapped_, [&](const Mapped& old) {
        const bool same_place = old.begin - old.offset == mapping.begin - mapping.offset;
        const bool same_file = old.device == mapping.device && old.inode == mapping.inode;
        return old.begin < mapping.end && mapping.begin < old.end && !(same_place && same_file);
    });
    const bool known = std::any_of(mapped_.begin(), mapped_.end(), [&](const Mapped& old) {
        return old.begin <= mapping.begin && mapping.end <= old.end;
    });
    if (!known) {
        mapped_.push_back(mapping);
    }
}

// Areas for what has none yet of a range of a file.
void Tracker::cover(const FileMapping& mapping, std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
        std::uint64_t next = end;
        std::uint64_t known = 0;
        for (const Part& part : parts_) {
            if (part.device != mapping.device || part.inode != mapping.inode) {
                continue;
            }
            if (part.begin <= begin && begin < part.end) {
                known = std::max(known, part.end);
            } else if (part.begin > begin) {
                next = std::min(next, part.begin);
            }
        }
        if (known == 0) {
            add_part(mapping, begin, next);
        }
        begin = std::max(known, known == 0 ? next : 0);
    }
}

void Tracker::add_part(const FileMapping& mapping, std::uint64_t begin, std::uint64_t end) {
    if (account_bytes_ + (end - begin) > model_.platform().memory) {
        leave_out(mapping, end - begin, "it is larger than the account may be: memory=SIZE");
        return;
    }
    const View view = open_view(mapping, begin, end - begin);
    if (view.error != 0) {
        leave_out(mapping, end - begin, std::strerror(view.error));
    }
    if (view.memory == nullptr) {
        return;
    }
    if (process_ == 0) {
        start();
    }
    account_bytes_ += view.length;
    model_.add_area(mapping.path, view.memory, view.image, view.length, begin);
    parts_.push_back({mapping.device, mapping.inode, begin, begin + view.length});
}

void Tracker::leave_out(const FileMapping& mapping, std::uint64_t length, const char* why) {
    std::snprintf(notes_.left_out.data(), notes_.left_out.size(), "%" PRIu64 " bytes of %s: %s",
                  length, mapping.path.c_str(), why);
    log(LogLevel::Error, "no account of persistent memory is kept of %s", notes_.left_out.data());
}

void Tracker::find(const void* address, std::uint64_t length, std::vector<Range>& out) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const std::uintptr_t end = begin + length;
    std::uintptr_t done = begin;  // registrations may overlap
    while (done < end) {
        std::uintptr_t next = end;
        const Mapped* here = nullptr;
        for (const Mapped& mapping : mapped_) {
            if (mapping.begin <= done && done < mapping.end) {
                here = here == nullptr || here->end < mapping.end ? &mapping : here;
            } else if (mapping.begin > done) {
                next = std::min(next, mapping.begin);
            }
        }
        if (here != nullptr) {
            next = std::min(end, here->end);
            const std::uint64_t offset = here->offset + (done - here->begin);
            find_part(here->device, here->inode, offset, offset + (next - done), out);
        }
        done = next;
    }
}

void Tracker::find_part(dev_t device, ino_t inode, std::uint64_t begin, std::uint64_t end,
                        std::vector<Range>& out) const {
    for (std::uint32_t number = 0; number < parts_.size(); ++number) {
        const Part& part = parts_[number];
        const std::uint64_t from = std::max(begin, part.begin);
        const std::uint64_t to = std::min(end, part.end);
        if (part.device == device && part.inode == inode && from < to) {
            out.push_back({number, from - part.begin, to - part.begin});
        }
    }
}

void Tracker::find_file(dev_t device, ino_t inode, std::vector<Range>& out) const {
    find_part(device, inode, 0, ~0ULL, out);
}

// --- events ---

void Tracker::step(const char* what, std::uint32_t connection, const Range* range) {
    log_point(what, connection, range, true);
    const PowerFail& due = settings_.power_fail;
    if (due.when == PowerFail::When::Event && due.value == events_) {
        fail_power("at an event", settings_.seed);
    }
    ++events_;
}

void Tracker::flush_done() {
    ++flushes_;
    const PowerFail& due = settings_.power_fail;
    if (due.when == PowerFail::When::Flush && due.value == flushes_) {
        fail_power("after a flush", settings_.seed);
    }
}

void Tracker::finish() {
    log_point("exit", 0, nullptr, true);
    const PowerFail& due = settings_.power_fail;
    if (due.when == PowerFail::When::Event && due.value == events_) {
        fail_power("at exit", settings_.seed);
    }
}

void Tracker::overtaking(std::uint32_t connection) {
    log_point("flush overtaken", connection, nullptr, false);
    const PowerFail& due = settings_.power_fail;
    if (due.when == PowerFail::When::Event && due.value == events_) {
        model_.take_back(connection);
        fail_power("a write has overtaken the flush", settings_.seed);
    }
    ++events_;
}

// "POINT LINES_AT_RISK TIME what comes next, state HEX". The state is left out where a power
// failure would leave something else than it says.
void Tracker::log_point(const char* what, std::uint32_t connection, const Range* range,
                        bool has_state) {
    if (events_file_ < 0) {
        return;
    }
    Writer out(events_file_);
    const Survival::Risk risk = Survival(model_, 0).risk(kRiskShown);
    out.print("%" PRIu64 " %" PRIu64 " %.6f %s", events_, risk.lines,
              static_cast<double>(nanoseconds()) / 1e9, what);
    if (connection != 0) {
        out.print(", connection %u", connection);
    }
    if (range != nullptr) {
        const Area& area = model_.area(range->area);
        out.print(", %s bytes %" PRIu64 " to %" PRIu64, area.name.c_str(),
                  area.file_offset + range->begin, area.file_offset + range->end - 1);
    }
    if (has_state && risk.lines < kRiskShown) {
        out.print(", state %016" PRIx64, risk.state);
    }
    out.add("\n");
}

void Tracker::fail_power(const char* occasion, std::uint64_t seed) {
    const LineSet* const lose = settings_.lose ? &*settings_.lose : nullptr;
    persistence::fail_power(situation(occasion), {seed, lose}, settings_.report);
}

void Tracker::report_connection(std::uint32_t connection) {
    if (!settings_.report.empty() || model_.knows(connection)) {
        write_report("end of a connection");
    }
}

namespace {

void complain(const Totals& totals, const char* occasion, const std::string& file) {
    if (totals.operations != 0) {
        log(LogLevel::Warning,
            "%" PRIu64 " bytes written remotely are not durable (%s); the report is in %s",
            totals.bytes, occasion, file.c_str());
    } else {
        log(LogLevel::Warning,
            "direct write to persistent memory was declared, which this platform does not have "
            "(%s); the report is in %s",
            occasion, file.c_str());
    }
}

}  // namespace

Totals Tracker::write_report(const char* occasion) {
    const Situation now = situation(occasion);
    const std::string& name = settings_.report;
    if (name.empty()) {
        const Totals totals = count(now);
        if (!totals.clean()) {
            Writer out(STDERR_FILENO);
            report(now, out, false);
        }
        return totals;
    }
    const std::string unfinished = unfinished_name(name);
    const int fd = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kReportMode);
    if (fd < 0) {
        log(LogLevel::Error, "cannot write the report to %s: %s", name.c_str(),
            std::strerror(errno));
        return count(now);
    }
    Totals totals;
    {
        Writer out(fd);
        totals = report(now, out, wants_json(name));
    }
    close(fd);
    if (unfinished != name) {
        std::rename(unfinished.c_str(), name.c_str());
    }
    if (!totals.clean()) {
        complain(totals, occasion, name);
    }
    return totals;
}

}  // namespace fabric::memory::persistence
