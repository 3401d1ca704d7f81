// SPDX-License-Identifier: BSD-3-Clause
// `--pcap`: what goes over the wire, as a file for Wireshark.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "failure.hpp"

namespace CLI {
class App;
}

namespace launcher {

struct PcapOptions {
    std::string file;  // empty: nothing is recorded
};

void add_options(CLI::App* app, PcapOptions& options);

// The program keeps this process's number, so it is the one to use the file's plain name.
std::vector<std::pair<std::string, std::string>> environment_of(const PcapOptions& options);

// Empties the file, so that a wrong name is refused before the program starts.
Result<void> start(const PcapOptions& options);

}  // namespace launcher
