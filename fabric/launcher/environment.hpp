// SPDX-License-Identifier: BSD-3-Clause
// The environment that makes a program run on the fabric.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "failure.hpp"
#include "fault_options.hpp"
#include "pcap_options.hpp"
#include "persistence_options.hpp"

namespace launcher {

// What the user may choose for a run; empty: not chosen, the fabric's default holds.
struct FabricOptions {
    std::string trace_file;  // one line per packet and event
    std::string log;         // LEVEL[:FILE]
    std::string native;      // native operations the device offers, comma-separated
    std::string mtu;         // payload bytes in one packet
    FaultOptions faults;     // what is to go wrong
    PersistenceOptions persistence;
    PcapOptions pcap;  // frames for Wireshark
};

using Environment = std::vector<std::pair<std::string, std::string>>;

// The variables to set so that `library` is loaded and behaves as asked. File names are made
// absolute, so that a program that changes its directory (or a child that starts elsewhere) writes
// to the same file.
Environment fabric_environment(const std::string& library, const FabricOptions& options);

// Refuses settings that the fabric would not understand (it would only warn, and go on with its
// defaults).
Result<void> check(const FabricOptions& options);

// Creates or empties the trace file: every process of the run then appends to it.
Result<void> start_trace(const std::string& file);

void apply(const Environment& environment);

// `word` as a POSIX shell reads it back, quoted only where it must be.
std::string shell_quoted(const std::string& word);

}  // namespace launcher
