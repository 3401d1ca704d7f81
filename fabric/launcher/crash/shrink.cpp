// SPDX-License-Identifier: BSD-3-Clause
#include "crash/shrink.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "crash/example.hpp"
#include "crash/process.hpp"

namespace launcher::crash {
namespace {

using fabric::memory::persistence::LineRun;
using fabric::memory::persistence::LineSet;
using fabric::memory::persistence::parse_lines;
using Line = std::pair<std::uint32_t, std::uint64_t>;  // area, number

std::vector<Line> single_lines(const LineSet& runs) {
    std::vector<Line> lines;
    for (const LineRun& run : runs) {
        for (std::uint64_t line = run.first; line <= run.last; ++line) {
            lines.emplace_back(run.area, line);
        }
    }
    return lines;
}

LineSet runs_of(const std::vector<Line>& lines) {
    LineSet runs;
    for (const auto& [area, line] : lines) {
        if (!runs.empty() && runs.back().area == area && runs.back().last + 1 == line) {
            runs.back().last = line;
        } else {
            runs.push_back({area, line, line});
        }
    }
    return runs;
}

class Shrinker {
public:
    Shrinker(const Options& options, const Workload& workload, const Case& which,
             const nlohmann::json& example)
        : options_(options), workload_(workload), which_(which), first_(example), best_(example) {}

    nlohmann::json run();

private:
    void keep_pieces(std::size_t size);
    bool fails(const std::vector<Line>& lines);
    bool may_try() const { return tries_ < options_.shrink && !interrupted(); }

    const Options& options_;
    const Workload& workload_;
    const Case which_;
    const nlohmann::json& first_;
    nlohmann::json best_;
    std::vector<Line> lost_;
    std::uint64_t tries_ = 0;
};

// With all of it first: then the loss is not what is wrong.
nlohmann::json Shrinker::run() {
    const auto lines = parse_lines(first_["report"].value("lost_lines", ""));
    if (options_.shrink == 0 || !lines || !first_["report"].value("lost_lines_complete", false)) {
        return best_;
    }
    lost_ = single_lines(*lines);
    const std::size_t before = lost_.size();
    for (std::size_t size = before; size != 0 && may_try(); size /= 2) {
        keep_pieces(size);
    }
    best_["shrink"] = {{"lines_before", before}, {"lines", lost_.size()}, {"runs", tries_}};
    return best_;
}

void Shrinker::keep_pieces(std::size_t size) {
    for (std::size_t at = 0; at < lost_.size() && may_try();) {
        const auto from = lost_.begin() + static_cast<std::ptrdiff_t>(at);
        const std::size_t count = std::min(size, lost_.size() - at);
        std::vector<Line> fewer(lost_.begin(), from);
        fewer.insert(fewer.end(), from + static_cast<std::ptrdiff_t>(count), lost_.end());
        if (fails(fewer)) {
            lost_ = std::move(fewer);
        } else {
            at += count;
        }
    }
}

bool Shrinker::fails(const std::vector<Line>& lines) {
    ++tries_;
    Case smaller = which_;
    smaller.lose = runs_of(lines);
    const Scratch scratch(options_.keep);
    const auto outcome = workload_.run(smaller, scratch);
    if (!outcome) {
        return false;
    }
    const auto verdict = workload_.check(scratch);
    const bool failed = verdict && !verdict->passed && !interrupted();
    if (failed) {
        best_ = make_example(options_, smaller, *outcome, *verdict, &first_["report"]);
    }
    return failed;
}

}  // namespace

nlohmann::json shrink(const Options& options, const Workload& workload, const Case& which,
                      const nlohmann::json& example) {
    return Shrinker(options, workload, which, example).run();
}

}  // namespace launcher::crash
