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
        std::exit(kExitFindings);  // the GNU C library goes on with the handlers that are left
    }
}

std::atomic<Tracker*> g_tracker = nullptr;

int open_events_file() {
    const char* const name = std::getenv("RPMA_FABRIC_EVENTS");
    return name == nullptr || *name == '\0'
               ? -1
               : open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kReportMode);
}

}  // namespace

// Never destroyed: other threads may use it until the process has ended.
Tracker& Tracker::instance() {
    if (Tracker* const tracker = g_tracker.load(std::memory_order_acquire)) {
        return *tracker;
    }
    return replace_instance(nullptr);
}

Tracker& Tracker::of_this_process() {
    Tracker& tracker = instance();
    return tracker.process_ == 0 || tracker.ours() ? tracker : replace_instance(&tracker);
}

Tracker& Tracker::replace_instance(Tracker* old) {
    auto* const made = new Tracker(settings());
    if (g_tracker.compare_exchange_strong(old, made)) {
        return *made;
    }
    delete made;
    return *old;
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
        Writer(events_file_).print("# process %d\n", getpid());
    }
    static std::atomic_flag at_exit_set;  // forked children have it, too
    if (!at_exit_set.test_and_set()) {
        on_exit(at_exit, nullptr);
    }
    const auto& when = settings_.power_fail;
    start_control(when.when == PowerFail::When::Time ? static_cast<int>(when.value) : -1);
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
    if (due.when != PowerFail::When::Never) {
        log(LogLevel::Warning,
            "the program has ended before its power failed: after %" PRIu64 " events and %" PRIu64
            " reads and flushes of peers",
            events_, flushes_);
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
    follow_files();
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
    follow_files();
    const LineSet* const lose = settings_.lose ? &*settings_.lose : nullptr;
    persistence::fail_power(situation(occasion), {seed, lose}, settings_.report);
}

void Tracker::report_connection(std::uint32_t connection) {
    if (!settings_.report.empty() || model_.knows(connection)) {
        write_report("end of a connection");
    }
}

namespace {

// `file`: of the report; empty: it could not be written.
void complain(const Totals& totals, const char* occasion, const std::string& file) {
    const std::string where = file.empty() ? "" : "; the report is in " + file;
    if (totals.operations != 0) {
        log(LogLevel::Warning, "%" PRIu64 " bytes written remotely are not durable (%s)%s",
            totals.bytes, occasion, where.c_str());
    } else {
        log(LogLevel::Warning,
            "direct write to persistent memory was declared, which this platform does not have "
            "(%s)%s",
            occasion, where.c_str());
    }
}

}  // namespace

Totals Tracker::write_report(const char* occasion) {
    follow_files();
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
    Writer out(fd);
    const Totals totals = report(now, out, wants_json(name));
    out.flush();
    close(fd);
    if (out.error() != 0) {
        log(LogLevel::Error, "cannot write the report to %s: %s", name.c_str(),
            std::strerror(out.error()));
    }
    if (unfinished != name && out.error() != 0) {
        unlink(unfinished.c_str());  // what is there by that name is better than half of a report
    } else if (unfinished != name) {
        std::rename(unfinished.c_str(), name.c_str());
    }
    if (!totals.clean()) {
        complain(totals, occasion, out.error() == 0 ? name : "");
    }
    return totals;
}

}  // namespace fabric::memory::persistence
