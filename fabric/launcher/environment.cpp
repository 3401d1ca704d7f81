// SPDX-License-Identifier: BSD-3-Clause
#include "environment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "config.hpp"
#include "library.hpp"

namespace launcher {
namespace {

constexpr mode_t kTraceMode = 0666;  // less the umask

std::string absolute(const std::string& file) {
    return std::filesystem::absolute(file).string();
}

std::string absolute_log(const std::string& log) {
    const std::size_t colon = log.find(':');
    if (colon == std::string::npos || colon + 1 == log.size()) {
        return log.substr(0, colon);
    }
    return log.substr(0, colon + 1) + absolute(log.substr(colon + 1));
}

const char* null_if_empty(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
}

// The fabric complains of variables; whoever started it has typed an option.
Failure of_option(const std::string& complaint) {
    constexpr std::array<std::pair<const char*, const char*>, 5> kOptions{
        {{"RPMA_FABRIC_LOG", "--log"},
         {"RPMA_FABRIC_NATIVE", "--native"},
         {"RPMA_FABRIC_MTU", "--mtu"},
         {"RPMA_FABRIC_PLATFORM", "--platform"},
         {"RPMA_FABRIC_POWER_FAIL", "--power-fail-at"}}};
    const std::size_t colon = complaint.find(':');
    for (const auto& [variable, option] : kOptions) {
        if (complaint.substr(0, colon) == variable) {
            return {kExitFailure,
                    fmt::format("{} ({}){}", option, variable, complaint.substr(colon))};
        }
    }
    return {kExitFailure, complaint};
}

}  // namespace

Result<void> check(const FabricOptions& options) {
    const fabric::Config config =
        fabric::parse_config(null_if_empty(options.trace_file), null_if_empty(options.log),
                             null_if_empty(options.native), null_if_empty(options.mtu));
    if (!config.complaint.empty()) {
        return tl::unexpected(of_option(config.complaint));
    }
    if (const auto checked = check(options.persistence); !checked) {
        return tl::unexpected(of_option(checked.error().message));
    }
    return check(options.faults, !options.persistence.platform.empty());
}

Environment fabric_environment(const std::string& library, const FabricOptions& options) {
    Environment environment{{"LD_PRELOAD", preload_list(library, std::getenv("LD_PRELOAD"))}};
    if (!options.trace_file.empty()) {
        environment.emplace_back("RPMA_FABRIC_TRACE", absolute(options.trace_file));
    }
    if (!options.log.empty()) {
        environment.emplace_back("RPMA_FABRIC_LOG", absolute_log(options.log));
    }
    if (!options.native.empty()) {
        environment.emplace_back("RPMA_FABRIC_NATIVE", options.native);
    }
    if (!options.mtu.empty()) {
        environment.emplace_back("RPMA_FABRIC_MTU", options.mtu);
    }
    if (!options.faults.spec.empty()) {
        environment.emplace_back("RPMA_FABRIC_FAULTS", options.faults.spec);
    }
    if (!options.faults.seed.empty()) {
        environment.emplace_back("RPMA_FABRIC_SEED", options.faults.seed);
    }
    for (auto& setting : environment_of(options.persistence)) {
        environment.push_back(std::move(setting));
    }
    for (auto& setting : environment_of(options.pcap)) {
        environment.push_back(std::move(setting));
    }
    return environment;
}

Result<void> start_trace(const std::string& file) {
    const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kTraceMode);
    if (fd < 0) {
        return failure(kExitFailure,
                       fmt::format("cannot write the trace to {}: {}", file, std::strerror(errno)));
    }
    close(fd);
    return {};
}

void apply(const Environment& environment) {
    for (const auto& [name, value] : environment) {
        setenv(name.c_str(), value.c_str(), 1);
    }
}

std::string shell_quoted(const std::string& word) {
    constexpr const char* kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
        return word;
    }
    std::string quoted = "'";
    for (const char c : word) {
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return quoted + "'";
}

}  // namespace launcher
