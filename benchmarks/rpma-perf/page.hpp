// SPDX-License-Identifier: BSD-3-Clause
// The parts of the report page, put into the program when it is built (embed.cmake).
#pragma once

#include <string_view>

namespace perf::page {

extern const std::string_view kFrame;    // web/report.html
extern const std::string_view kStyle;    // web/report.css
extern const std::string_view kScript;   // web/report.js
extern const std::string_view kLibrary;  // Chart.js, from Debian

}  // namespace perf::page
