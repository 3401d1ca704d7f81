// SPDX-License-Identifier: BSD-3-Clause
#include "findings.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace launcher {
namespace {

using nlohmann::json;

std::string operation_of(const json& finding) {
    if (!finding.contains("number")) {
        return "store of the CPU";
    }
    const auto first = finding.at("number").get<std::uint64_t>();
    const auto last = finding.at("to").get<std::uint64_t>();
    return fmt::format("{} {}{}, connection {}, event {}, {:.6f} s",
                       finding.at("operation").get<std::string>(), first,
                       last == first ? "" : fmt::format(" to {}", last),
                       finding.at("connection").get<unsigned>(),
                       finding.at("event").get<std::uint64_t>(), finding.at("time").get<double>());
}

std::string section(const json& report, const char* list, const char* title) {
    if (!report.contains(list)) {
        return {};
    }
    const std::string findings = text_of_findings(report.at(list));
    return fmt::format("{}:\n{}", title, findings.empty() ? "  nothing\n" : findings);
}

std::string useless_call(const json& call) {
    std::string line =
        fmt::format("  after event {}, {:.6f} s", call.at("event").get<std::uint64_t>(),
                    call.at("time").get<double>());
    if (const auto connection = call.at("connection").get<unsigned>(); connection != 0) {
        line += fmt::format(", connection {}", connection);
    }
    if (call.contains("region")) {
        const auto offset = call.at("offset").get<std::uint64_t>();
        const auto length = call.at("length").get<std::uint64_t>();
        line += fmt::format(": {}, bytes {} to {}", call.at("region").get<std::string>(), offset,
                            offset + length - 1);
    }
    return line + "\n";
}

std::string useless(const json& report, const char* name, const char* text) {
    const auto count = report.at(name).at("count").get<std::uint64_t>();
    if (count == 0) {
        return {};
    }
    std::string lines = fmt::format("{}: {} times\n", text, count);
    const json& first = report.at(name).at("first");
    for (const json& call : first) {
        lines += useless_call(call);
    }
    if (count > first.size()) {
        lines += fmt::format("  ... and {} more\n", count - first.size());
    }
    return lines;
}

}  // namespace

std::string text_of_findings(const json& findings) {
    std::string text;
    for (const json& finding : findings) {
        const auto offset = finding.at("offset").get<std::uint64_t>();
        const auto length = finding.at("length").get<std::uint64_t>();
        text += fmt::format("  {}, bytes {} to {}: {}\n    {}: {}\n    remedy: {}\n",
                            finding.at("region").get<std::string>(), offset, offset + length - 1,
                            operation_of(finding), finding.at("why").get<std::string>(),
                            finding.at("text").get<std::string>(),
                            finding.at("remedy").get<std::string>());
    }
    return text;
}

std::string text_of(const json& report) {
    std::string text = fmt::format(
        "process {}, platform {}, {}, after {} events\n", report.at("process").get<int>(),
        report.at("platform").get<std::string>(), report.at("occasion").get<std::string>(),
        report.at("events").get<std::uint64_t>());
    text += section(report, "missing", "not durable");
    text += section(report, "stores", "stored by the CPU, not persisted");
    text += section(report, "lost", "lost");
    text += section(report, "kept", "kept, although not durable");
    if (report.at("declared").get<std::uint64_t>() != 0) {
        text +=
            "declared durable although the platform cannot: direct write to persistent memory\n";
    }
    text += useless(report, "useless_flushes", "flushed for nothing, nothing was left to flush");
    text +=
        useless(report, "useless_persists", "persisted for nothing, all in the range was durable");
    const auto left_out = report.at("left_out").get<std::string>();
    return left_out.empty() ? text : text + fmt::format("no account: {}\n", left_out);
}

bool clean(const json& report) {
    const bool missing = report.contains("missing") && !report.at("missing").empty();
    const bool lost = report.contains("lost") && !report.at("lost").empty();
    return !missing && !lost && report.at("declared").get<std::uint64_t>() == 0;
}

}  // namespace launcher
