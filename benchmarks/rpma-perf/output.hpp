// SPDX-License-Identifier: BSD-3-Clause
// Files that results go to. Regular files are replaced as a whole, so that a full disk leaves what
// was there before.
#pragma once

#include <string>
#include <string_view>

namespace perf {

// Fails early where a file cannot be made at all. "-" is standard output.
void check_writable(const std::string& path);
void write_file(const std::string& path, std::string_view content);

}  // namespace perf
