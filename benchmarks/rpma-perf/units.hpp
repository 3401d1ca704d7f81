// SPDX-License-Identifier: BSD-3-Clause
// Numbers as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace perf {

// "4096", "4K", "1M", "2G" (powers of 1024; "KiB" and "KB" mean the same as "K"). Throws Error.
std::uint64_t parse_size(std::string_view text);

// A comma-separated list of numbers and ranges: "64,4K", "64-1M" (doubling), "1-1M:4" (factor 4).
// In ascending order, each once. `what` names the option in the failure. Throws Error.
std::vector<std::uint64_t> parse_sizes(std::string_view what, std::string_view text);

std::string format_size(std::uint64_t bytes);           // 64 B, 4 KiB, 1.5 MiB
std::string format_latency(double ns);                  // microseconds, four digits
std::string format_rate(double per_second);             // 1234, 12.3 k, 1.23 M
std::string format_bandwidth(double bytes_per_second);  // MB/s

}  // namespace perf
