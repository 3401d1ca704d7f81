// SPDX-License-Identifier: BSD-3-Clause
// What a user can set from outside, in one place. Read once from the environment, on first use.
//
//   RPMA_FABRIC_TRACE   file that gets one line per packet and event, appended; processes may
//                       share it
//   RPMA_FABRIC_LOG     level or level:file; error, warning (the default, to stderr), info, debug
//   RPMA_FABRIC_NATIVE  native operations the device offers: "none", or some of "flush" and
//                       "atomic_write", separated by commas; default: all that the headers of
//                       rdma-core knew when it was built
//   RPMA_FABRIC_MTU     payload bytes of one packet on a stream, 256 to 4194304, a power of two;
//                       default 32768
#pragma once

#include <cstdint>
#include <string>

namespace fabric {

enum class LogLevel : std::uint8_t { Error, Warning, Info, Debug };

struct Config {
    LogLevel log_level = LogLevel::Warning;
    std::string log_file;    // empty: stderr
    std::string trace_file;  // empty: no trace
    bool native_flush = false;
    bool native_atomic_write = false;
    std::uint32_t stream_mtu = 0;  // bytes
    std::string
        complaint;  // what was wrong with a variable (its default is used then); empty: nothing
};

inline constexpr std::uint32_t kMinStreamMtu = 256;
inline constexpr std::uint32_t kMaxStreamMtu = 4U << 20;
inline constexpr std::uint32_t kDefaultStreamMtu = 32768;

// Thread-safe.
const Config& config();

// The same from given texts; nullptr: variable not set. Pure, for tests.
Config parse_config(const char* trace, const char* log, const char* native, const char* mtu);

}  // namespace fabric
