// SPDX-License-Identifier: BSD-3-Clause
#include "memory/persistence/report.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <optional>

namespace fabric::memory::persistence {

namespace {

constexpr double kSecond = 1e9;

double seconds(std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / kSecond;
}

void print_json(const Model& model, const Finding& found, Writer& out) {
    const Area& area = model.area(found.area);
    out.add("{\"region\": ");
    out.quote(area.name);
    out.print(", \"offset\": %" PRIu64 ", \"length\": %" PRIu64, area.file_offset + found.begin,
              found.end - found.begin);
    if (found.first == nullptr) {
        out.add(", \"operation\": \"store\"");
    } else {
        out.print(", \"operation\": \"%s\", \"number\": %" PRIu64 ", \"to\": %" PRIu64
                  ", \"connection\": %u, \"event\": %" PRIu64 ", \"time\": %.6f",
                  name_of(found.first->kind), found.first->number, found.last->number,
                  found.first->connection, found.first->event, seconds(found.first->time));
    }
    out.print(", \"why\": \"%s\",\n     \"text\": ", found.reason->name);
    out.quote(found.reason->text);
    out.add(", \"remedy\": ");
    out.quote(found.reason->remedy);
    out.add("}");
}

void print_text(const Model& model, const Finding& found, Writer& out) {
    const Area& area = model.area(found.area);
    out.print("  %s, bytes %" PRIu64 " to %" PRIu64 ": ", area.name.c_str(),
              area.file_offset + found.begin, area.file_offset + found.end - 1);
    if (found.first == nullptr) {
        out.add("store of the CPU");
    } else {
        out.print("%s %" PRIu64, name_of(found.first->kind), found.first->number);
        if (found.last != found.first) {
            out.print(" to %" PRIu64, found.last->number);
        }
        out.print(", connection %u, event %" PRIu64 ", %.6f s", found.first->connection,
                  found.first->event, seconds(found.first->time));
    }
    out.print("\n    %s: %s\n    remedy: %s\n", found.reason->name, found.reason->text,
              found.reason->remedy);
}

// Every byte at risk that an operation brought.
void each_piece(const Model& model, Findings& findings) {
    for (std::uint32_t area = 0; area < model.areas().size(); ++area) {
        for (const auto& [begin, piece] : model.area(area).pieces) {
            findings.add(area, begin, piece.end, piece.operation);
        }
    }
    findings.finish();
}

// Every byte that the CPU stored and nobody persisted: takes what seed 0 would lose.
class Stores final : public LossListener {
public:
    explicit Stores(Findings& findings) : findings_(findings) {}
    void lost(const Area&, const LostPiece& piece) override {
        if (piece.operation == nullptr) {
            findings_.add(area, piece.begin, piece.end, nullptr);
        }
    }
    void kept(const Area&, const LostPiece&) override {}
    std::uint32_t area = 0;

private:
    Findings& findings_;
};

void each_store(const Model& model, Findings& findings) {
    const Survival none(model, 0);
    Stores stores(findings);
    Survival::Line line{};
    for (std::uint32_t area = 0; area < model.areas().size(); ++area) {
        stores.area = area;
        const std::uint64_t lines = (model.area(area).length + kLine - 1) / kLine;
        for (std::uint64_t number = none.next_at_risk(area, 0); number < lines;
             number = none.next_at_risk(area, number + 1)) {
            none.line(area, number, line, &stores);
        }
    }
    findings.finish();
}

void json_useless(const Model& model, const Notes::Useless& useless, const char* name,
                  Writer& out) {
    out.print("  \"%s\": {\"count\": %" PRIu64 ", \"first\": [", name, useless.count);
    const char* separator = "";
    for (const auto& call : useless.shown()) {
        out.print("%s\n    {\"event\": %" PRIu64 ", \"time\": %.6f, \"connection\": %u", separator,
                  call.event, seconds(call.time), call.connection);
        if (call.range.length() != 0) {
            const Area& area = model.area(call.range.area);
            out.add(", \"region\": ");
            out.quote(area.name);
            out.print(", \"offset\": %" PRIu64 ", \"length\": %" PRIu64,
                      area.file_offset + call.range.begin, call.range.length());
        }
        out.add("}");
        separator = ",";
    }
    out.add("]},\n");
}

void text_useless(const Model& model, const Notes::Useless& useless, const char* title,
                  Writer& out) {
    if (useless.count == 0) {
        return;
    }
    out.print("%s: %" PRIu64 " times\n", title, useless.count);
    for (const auto& call : useless.shown()) {
        out.print("  after event %" PRIu64 ", %.6f s", call.event, seconds(call.time));
        if (call.connection != 0) {
            out.print(", connection %u", call.connection);
        }
        if (call.range.length() != 0) {
            const Area& area = model.area(call.range.area);
            out.print(": %s, bytes %" PRIu64 " to %" PRIu64, area.name.c_str(),
                      area.file_offset + call.range.begin, area.file_offset + call.range.end - 1);
        }
        out.add("\n");
    }
    if (useless.count > Notes::Useless::kShown) {
        out.print("  ... and %" PRIu64 " more\n", useless.count - Notes::Useless::kShown);
    }
}

void print_usage(const Situation& now, Writer& out) {
    const Usage& usage = now.model.usage();
    std::uint64_t image = 0;
    for (const auto& area : now.model.areas()) {
        image += area->length;
    }
    out.print("  \"memory\": {\"images\": %" PRIu64
              ", \"operations\": %zu, \"peak_operations\": %zu, \"buried_lines\": %zu,\n",
              image, usage.operations, usage.peak_operations, usage.buried_lines);
    out.print("    \"bytes\": %zu, \"versions_dropped\": %" PRIu64
              ", \"operations_dropped\": %" PRIu64 "}\n",
              usage.peak_operations * (sizeof(Operation) + sizeof(Piece) + 2 * kLine) +
                  usage.buried_lines * sizeof(Buried),
              usage.versions_dropped, usage.operations_dropped);
}

void json_head(const Situation& now, Writer& out) {
    out.print("{\n  \"platform\": \"%s\",\n  \"occasion\": \"%s\",\n  \"process\": %d,\n",
              describe(now.model.platform()), now.occasion, getpid());
    out.print("  \"events\": %" PRIu64 ",\n  \"flushes\": %" PRIu64 ",\n  \"time\": %.6f,\n",
              now.events, now.flushes, seconds(now.time));
    out.add("  \"regions\": [");
    for (std::size_t i = 0; i < now.model.areas().size(); ++i) {
        const Area& area = *now.model.areas()[i];
        out.add(i == 0 ? "{\"name\": " : ", {\"name\": ");
        out.quote(area.name);
        out.print(", \"offset\": %" PRIu64 ", \"length\": %" PRIu64 "}", area.file_offset,
                  area.length);
    }
    out.add("],\n");
}

void json_notes(const Situation& now, Writer& out) {
    json_useless(now.model, now.notes.flushes, "useless_flushes", out);
    json_useless(now.model, now.notes.persists, "useless_persists", out);
    out.print("  \"declared\": %" PRIu64 ",\n  \"volatile_bytes\": %" PRIu64 ",\n  \"left_out\": ",
              now.notes.declared, now.notes.volatile_bytes);
    out.quote(now.notes.left_out.data());
    out.add(",\n");
    print_usage(now, out);
    out.add("}\n");
}

void text_notes(const Situation& now, Writer& out) {
    const Notes& notes = now.notes;
    if (notes.declared != 0) {
        out.add(
            "declared durable although the platform cannot:\n  direct write to persistent "
            "memory was declared; on this platform a flush by a read leaves the data in the "
            "CPU's cache\n    remedy: declare false, and have the target's CPU persist\n");
    }
    text_useless(now.model, notes.flushes, "flushed for nothing, nothing was left to flush", out);
    text_useless(now.model, notes.persists, "persisted for nothing, all in the range was durable",
                 out);
    if (notes.volatile_bytes != 0) {
        out.print("not persistent: %" PRIu64
                  " bytes were written into memory that a power failure loses whole\n",
                  notes.volatile_bytes);
    }
    if (notes.left_out[0] != '\0') {
        out.print("no account: %s\n", notes.left_out.data());
    }
    const Usage& usage = now.model.usage();
    out.print("account: %" PRIu64
              " events, at most %zu operations at risk, %zu buried lines; "
              "not explored: %" PRIu64 " versions, %" PRIu64 " operations\n",
              now.events, usage.peak_operations, usage.buried_lines, usage.versions_dropped,
              usage.operations_dropped);
}

Totals print_findings(const Situation& now, Writer& out, bool json) {
    Totals totals;
    out.add(json ? "  \"missing\": [" : "");
    Findings missing(now.model, out, json);
    each_piece(now.model, missing);
    out.add(json ? "],\n  \"stores\": [" : "");
    Findings stores(now.model, out, json);
    if (!now.model.platform().caches_survive()) {
        each_store(now.model, stores);
    }
    out.add(json ? "],\n" : "");
    totals.operations = missing.count();
    totals.bytes = missing.bytes();
    totals.stores = stores.bytes();
    totals.declared = now.notes.declared;
    return totals;
}

int nowhere() {
    return ::open("/dev/null", O_WRONLY | O_CLOEXEC);
}

}  // namespace

void Findings::add(std::uint32_t area, std::uint64_t begin, std::uint64_t end,
                   const Operation* operation) {
    const Reason* const reason = &reason_of(operation, area, model_);
    const bool same =
        current_.reason == reason && current_.area == area && current_.end == begin &&
        (operation == nullptr) == (current_.first == nullptr) &&
        (operation == nullptr || (operation->connection == current_.first->connection &&
                                  operation->kind == current_.first->kind));
    bytes_ += end - begin;
    if (same) {
        current_.end = end;
        current_.last = operation;
        return;
    }
    show();
    current_ = {area, begin, end, operation, operation, reason};
}

void Findings::finish() {
    show();
    current_ = {};
    if (count_ > kShown && !json_) {
        out_.print("  ... and %" PRIu64 " more\n", count_ - kShown);
    }
}

void Findings::show() {
    if (current_.reason == nullptr) {
        return;
    }
    if (++count_ > kShown) {
        return;
    }
    if (json_) {
        out_.add(count_ == 1 ? "\n    " : ",\n    ");
        print_json(model_, current_, out_);
    } else {
        print_text(model_, current_, out_);
    }
}

std::string unfinished_name(const std::string& file) {
    struct stat there {};
    const bool special = stat(file.c_str(), &there) == 0 && !S_ISREG(there.st_mode);
    return special ? file : file + ".unfinished";
}

Totals report(const Situation& now, Writer& out, bool json) {
    if (json) {
        json_head(now, out);
    } else {
        out.print("persistence report (%s), process %d, platform %s\nnot durable:\n", now.occasion,
                  getpid(), describe(now.model.platform()));
    }
    const Totals totals = print_findings(now, out, json);
    if (json) {
        out.print("  \"missing_total\": {\"findings\": %" PRIu64 ", \"bytes\": %" PRIu64 "},\n",
                  totals.operations, totals.bytes);
        json_notes(now, out);
        return totals;
    }
    if (totals.operations == 0 && totals.stores == 0) {
        out.add("  nothing\n");
    }
    text_notes(now, out);
    return totals;
}

Totals count(const Situation& now) {
    const int fd = nowhere();
    Totals totals;
    {
        Writer out(fd);
        totals = print_findings(now, out, false);
    }
    ::close(fd);
    return totals;
}

namespace {

// One of both lists: what is lost, or what is kept.
class Outcome final : public LossListener {
public:
    Outcome(Findings& findings, bool want_lost) : findings_(findings), want_lost_(want_lost) {}
    void lost(const Area&, const LostPiece& piece) override { add(piece, true); }
    void kept(const Area&, const LostPiece& piece) override { add(piece, false); }
    std::uint32_t area = 0;

private:
    void add(const LostPiece& piece, bool lost) {
        if (lost == want_lost_) {
            findings_.add(area, piece.begin, piece.end, piece.operation);
        }
    }

    Findings& findings_;
    const bool want_lost_;
};

// Looks at every line at risk; changes nothing.
template <typename Listener>
void each_outcome(const Model& model, const Survival& survival, Listener& outcome) {
    Survival::Line line{};
    for (std::uint32_t area = 0; area < model.areas().size(); ++area) {
        outcome.area = area;
        const std::uint64_t lines = (model.area(area).length + kLine - 1) / kLine;
        for (std::uint64_t number = survival.next_at_risk(area, 0); number < lines;
             number = survival.next_at_risk(area, number + 1)) {
            survival.line(area, number, line, &outcome);
        }
    }
}

Findings print_outcome(const Situation& now, const Survival& survival, Writer& out, bool json,
                       bool lost) {
    Findings findings(now.model, out, json);
    Outcome outcome(findings, lost);
    each_outcome(now.model, survival, outcome);
    findings.finish();
    return findings;
}

// Runs of lines in which something is lost, as RPMA_FABRIC_LOSE takes them.
class LostLines final : public LossListener {
public:
    explicit LostLines(Writer& out) : out_(out) {}
    void lost(const Area&, const LostPiece& piece) override { add(piece.begin / kLine); }
    void kept(const Area&, const LostPiece&) override {}
    void finish() {
        if (run_ && runs_++ < kMaxRuns) {
            out_.print("%s%u:%" PRIu64, runs_ == 1 ? "" : ",", run_->area, run_->first);
            if (run_->last != run_->first) {
                out_.print("-%" PRIu64, run_->last);
            }
        }
        run_.reset();
    }
    bool complete() const { return runs_ <= kMaxRuns; }
    std::uint32_t area = 0;

private:
    static constexpr std::uint64_t kMaxRuns = 2048;  // they must fit into an environment variable

    void add(std::uint64_t line) {
        if (run_ && run_->area == area && line <= run_->last + 1) {
            run_->last = line;
            return;
        }
        finish();
        run_ = LineRun{area, line, line};
    }

    Writer& out_;
    std::optional<LineRun> run_;
    std::uint64_t runs_ = 0;
};

void print_lost_lines(const Model& model, const Survival& survival, Writer& out) {
    LostLines lines(out);
    out.add("  \"lost_lines\": \"");
    each_outcome(model, survival, lines);
    lines.finish();
    out.print("\",\n  \"lost_lines_complete\": %s,\n", lines.complete() ? "true" : "false");
}

void power_failure_head(const Situation& now, const PowerFailure& how, std::uint64_t at_risk,
                        Writer& out, bool json) {
    if (json) {
        json_head(now, out);
        out.print("  \"seed\": %" PRIu64 ",\n  \"lines_at_risk\": %" PRIu64 ",\n  \"lost\": [",
                  how.seed, at_risk);
    } else {
        out.print("power failure (%s), process %d, platform %s, after %" PRIu64
                  " events, seed %" PRIu64 ", %" PRIu64 " lines at risk\nlost:\n",
                  now.occasion, getpid(), describe(now.model.platform()), now.events, how.seed,
                  at_risk);
    }
}

}  // namespace

void report_power_failure(const Situation& now, const PowerFailure& how, Writer& out, bool json) {
    const Survival survival(now.model, how.seed, how.lose);
    power_failure_head(now, how, survival.count_at_risk(~0ULL), out, json);
    const Findings lost = print_outcome(now, survival, out, json, true);
    if (!json && lost.count() == 0) {
        out.add("  nothing\n");
    }
    out.add(json ? "],\n  \"kept\": [" : "kept, although not durable:\n");
    const Findings kept = print_outcome(now, survival, out, json, false);
    if (!json && kept.count() == 0) {
        out.add("  nothing\n");
    }
    if (json) {
        out.print("],\n  \"lost_total\": {\"findings\": %" PRIu64 ", \"bytes\": %" PRIu64 "},\n",
                  lost.count(), lost.bytes());
        print_lost_lines(now.model, survival, out);
        json_notes(now, out);
    }
    for (std::uint32_t area = 0; area < now.model.areas().size(); ++area) {
        survival.apply(area, nullptr);
    }
}

}  // namespace fabric::memory::persistence
