// SPDX-License-Identifier: BSD-3-Clause
#include "pcap_options.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace launcher {

void add_options(CLI::App* app, PcapOptions& options) {
    app->add_option("--pcap", options.file,
                    "Record what goes over the wire as RoCEv2 frames in FILE, for Wireshark and "
                    "tshark (emptied first; further processes: FILE.PID)")
        ->type_name("FILE");
}

std::vector<std::pair<std::string, std::string>> environment_of(const PcapOptions& options) {
    if (options.file.empty())
        return {};
    return {{"RPMA_FABRIC_PCAP", std::filesystem::absolute(options.file).string()},
            {"RPMA_FABRIC_PCAP_PID", std::to_string(getpid())}};
}

Result<void> start(const PcapOptions& options) {
    if (options.file.empty())
        return {};
    constexpr mode_t kMode = 0666;  // less the umask
    const int fd = open(options.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
    if (fd < 0)
        return failure(kExitFailure, fmt::format("cannot write the frames to {}: {}", options.file,
                                                 std::strerror(errno)));
    close(fd);
    return {};
}

}  // namespace launcher
