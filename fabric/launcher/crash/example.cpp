// SPDX-License-Identifier: BSD-3-Clause
#include "crash/example.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "findings.hpp"

namespace launcher::crash {
namespace {

using fabric::memory::persistence::LineSet;
using fabric::memory::persistence::parse_lines;
using nlohmann::json;

constexpr int kFormat = 1;

std::uint64_t first_of(const json& finding) {
    return finding.value("number", std::uint64_t{0});
}

std::uint64_t last_of(const json& finding) {
    return finding.value("to", std::uint64_t{0});
}

// Calls found(lost, kept) for pairs of remote operations until it says yes.
template <typename Found>
bool any_pair(const json& report, Found found) {
    for (const json& lost : report["lost"]) {
        for (const json& kept : report["kept"]) {
            if (first_of(lost) != 0 && first_of(kept) != 0 && found(lost, kept)) {
                return true;
            }
        }
    }
    return false;
}

std::string indented(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        out += "  | " + text.substr(at, end - at) + "\n";
        at = end + 1;
    }
    return out;
}

Diagnosis of_reason(const json& finding) {
    return {finding["why"].get<std::string>(),
            finding["text"].get<std::string>() + "; " + finding["remedy"].get<std::string>(), true};
}

// Whatever has been kept.
Diagnosis diagnose_loss(const json& report) {
    const json& lost = report["lost"];
    if (lost.empty()) {
        return {"nothing-lost",
                "everything that had arrived survived, and the check fails: the order in which the "
                "program writes leaves a moment at which the content is not valid, or the check "
                "itself is wrong"};
    }
    return of_reason(lost.front());
}

std::string what_is_smaller(const json& example) {
    if (!example.contains("shrink")) {
        return {};
    }
    const json& shrink = example["shrink"];
    return fmt::format("smallest loss: {} of {} lines of 64 bytes, found in {} runs\n",
                       shrink["lines"].get<std::uint64_t>(),
                       shrink["lines_before"].get<std::uint64_t>(),
                       shrink["runs"].get<std::uint64_t>());
}

}  // namespace

Diagnosis diagnose(const json& report) {
    const json& lost = report["lost"];
    if (report["occasion"] == "a write has overtaken the flush") {
        return {"overtaken-flush",
                "a write posted behind a flush, without waiting for it, was executed before it had "
                "finished; wait for the flush's completion, or use the atomic write or a fence"};
    }
    if (lost.empty()) {
        return diagnose_loss(report);
    }
    if (any_pair(report, [](const json& gone, const json& kept) {
            return first_of(kept) > last_of(gone);
        })) {
        return {"out-of-order",
                "a later operation became durable before an earlier one; between both must be a "
                "flush that has completed"};
    }
    if (any_pair(report, [](const json& gone, const json& kept) {
            return first_of(kept) <= last_of(gone) && first_of(gone) <= last_of(kept);
        })) {
        return {"torn",
                "one operation survived in part: only aligned words of 8 bytes are never torn; "
                "commit by an atomic write behind a completed flush, or by a checksum"};
    }
    return diagnose_loss(report);
}

Diagnosis diagnose(const json& first, const json& smallest) {
    const Diagnosis found = diagnose(first);
    return found.of_operation || smallest["lost"].empty() ? diagnose_loss(smallest) : found;
}

json make_example(const Options& options, const Case& which, const Outcome& outcome,
                  const Verdict& verdict, const json* first) {
    const Diagnosis found =
        first == nullptr ? diagnose(outcome.report) : diagnose(*first, outcome.report);
    json example = {{"format", kFormat},
                    {"platform", options.platform},
                    {"server", options.server},
                    {"client", options.client},
                    {"check", options.check},
                    {"point", which.point},
                    {"at_end", which.at_end},
                    {"seed", which.seed},
                    {"mistake", found.name},
                    {"explanation", found.text},
                    {"report", outcome.report},
                    {"acknowledged", outcome.acknowledged},
                    {"check_output", verdict.output}};
    if (which.lose) {
        example["lose"] = text_of(*which.lose);
    }
    return example;
}

std::string describe(const json& example) {
    const json& report = example["report"];
    std::string text =
        fmt::format("FAILED on platform {}: power failure {}, after {} events, seed {}\n",
                    report["platform"].get<std::string>(), report["occasion"].get<std::string>(),
                    report["events"].get<std::uint64_t>(), example["seed"].get<std::uint64_t>());
    text += fmt::format("mistake: {}: {}\n", example["mistake"].get<std::string>(),
                        example["explanation"].get<std::string>());
    text += what_is_smaller(example);
    const std::string lost = text_of_findings(report["lost"]);
    text += "lost:\n" + (lost.empty() ? "  nothing\n" : lost);
    text += "kept, although not durable:\n" + text_of_findings(report["kept"]);
    text += "the client had said:\n" + indented(example["acknowledged"].get<std::string>());
    text += "the check says:\n" + indented(example["check_output"].get<std::string>());
    return text;
}

bool same_loss(const json& example, const json& read) {
    const auto lines = [](const json& of) {
        const json report = of.value("report", json::object());
        const bool text =
            report.is_object() && report.contains("lost_lines") && report["lost_lines"].is_string();
        return text ? report["lost_lines"].get<std::string>() : std::string("?");
    };
    return lines(example) == lines(read) && lines(read) != "?";
}

Result<Replay> read_example(const std::string& file, const Options& given) {
    std::ifstream in(file);
    if (!in) {
        return failure(kExitFailure, fmt::format("{}: {}", file, std::strerror(errno)));
    }
    Replay replay;
    replay.options = given;
    replay.example = json::parse(in, nullptr, false);
    const json& example = replay.example;
    try {
        if (!in || example.is_discarded() || example.at("format").get<int>() != kFormat ||
            !example.at("report").is_object() || !example.at("mistake").is_string() ||
            !example.at("explanation").is_string()) {
            return failure(kExitFailure, fmt::format("{}: is no example of a crash test", file));
        }
        replay.options.platform = example.at("platform").get<std::string>();
        replay.options.server = example.at("server").get<std::string>();
        replay.options.client = example.at("client").get<std::string>();
        replay.options.check = example.at("check").get<std::string>();
        replay.which.point = example.at("point").get<std::uint64_t>();
        replay.which.seed = example.at("seed").get<std::uint64_t>();
        replay.which.at_end = example.at("at_end").get<bool>();
        if (example.contains("lose")) {
            replay.which.lose = parse_lines(example["lose"].get<std::string>());
        }
    } catch (const json::exception& error) {
        return failure(kExitFailure,
                       fmt::format("{}: is no example of a crash test: {}", file, error.what()));
    }
    if (example.contains("lose") && !replay.which.lose) {
        return failure(kExitFailure, fmt::format("{}: lose: names no lines", file));
    }
    return replay;
}

Result<void> save(const json& example, const std::string& file) {
    std::ofstream out(file);
    out << example.dump(2, ' ', false, json::error_handler_t::replace) << "\n";
    if (!out.flush()) {
        return failure(kExitFailure, fmt::format("cannot write the example to {}: {}", file,
                                                 std::strerror(errno)));
    }
    return {};
}

}  // namespace launcher::crash
