// SPDX-License-Identifier: BSD-3-Clause
#include "persistence_options.hpp"

#include <filesystem>

#include "memory/persistence/settings.hpp"

namespace launcher {
namespace {

const char* null_if_empty(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
}

}  // namespace

void add_persistence_options(CLI::App* app, PersistenceOptions& options) {
    app->add_option("--platform", options.platform,
                    "Keep account of what a power failure would leave on this platform: adr, eadr "
                    "or wsp[,ddio=on|off][,native-flush=on|off][,memory=SIZE]")
        ->type_name("PLATFORM");
    app->add_option("--power-fail-at", options.power_fail_at,
                    "The power fails after N events, at a time (2s, 150ms), or 'after flush K'")
        ->type_name("N|TIME|'after flush K'");
    app->add_option("--report", options.report_file,
                    "Write what is not durable, and why, to FILE; JSON if it ends in .json")
        ->type_name("FILE");
}

Result<void> check(const PersistenceOptions& options) {
    const auto settings = fabric::memory::persistence::parse_settings(
        null_if_empty(options.platform), null_if_empty(options.power_fail_at), nullptr,
        null_if_empty(options.report_file));
    if (!settings.complaint.empty()) {
        return failure(kExitFailure, settings.complaint);
    }
    return {};
}

std::vector<std::pair<std::string, std::string>> environment_of(const PersistenceOptions& options) {
    std::vector<std::pair<std::string, std::string>> out;
    const auto add = [&out](const char* name, const std::string& value) {
        if (!value.empty()) {
            out.emplace_back(name, value);
        }
    };
    add("RPMA_FABRIC_PLATFORM", options.platform);
    add("RPMA_FABRIC_POWER_FAIL", options.power_fail_at);
    if (!options.report_file.empty()) {
        add("RPMA_FABRIC_REPORT", std::filesystem::absolute(options.report_file).string());
    }
    return out;
}

}  // namespace launcher
