// SPDX-License-Identifier: BSD-3-Clause
// Log lines: thresholds, the function they go to, escaping.
#pragma once

#include <atomic>
#include <cstddef>

#include "public.hpp"

namespace rpma {

/// Longest text of a line in bytes, line feed included, without the terminating zero.
inline constexpr std::size_t kLogTextMax = 1023;

/// Where a line comes from. The default arguments name the place of the call.
struct Where {
    const char* file;
    int line;
    const char* function;

    static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                                const char* function = __builtin_FUNCTION()) {
        return {file, line, function};
    }
};

/// Lines of the data path never go to syslog: a socket write per failing post would stop a program
/// that does nothing worse than to look for room in its queue.
enum class Origin { setup, data_path };

extern std::atomic<rpma_log_level> log_thresholds[RPMA_LOG_THRESHOLD_MAX];

/// Whether a line of this level goes anywhere.
inline bool log_enabled(rpma_log_level level) {
    return level <= log_thresholds[RPMA_LOG_THRESHOLD].load(std::memory_order_relaxed);
}

/// Writes one line if its level passes. Control characters and bytes above 126 of the text are
/// escaped, the line is cut at kLogTextMax and always ends with a line feed. errno is preserved.
void log_line(const Where& where, Origin origin, rpma_log_level level, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

/// The default function, with what its public form cannot be told. text ends with a line feed.
void log_default(const Where& where, Origin origin, rpma_log_level level, const char* text);

}  // namespace rpma
