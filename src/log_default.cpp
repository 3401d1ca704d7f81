// SPDX-License-Identifier: BSD-3-Clause
// The log function used unless the program sets its own: syslog, and stderr for what passes the
// auxiliary threshold.
#include <sys/time.h>
#include <syslog.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>

#include "log.hpp"

namespace rpma {

namespace {

struct LevelText {
    const char* name;
    int severity;
};

/// By level, from RPMA_LOG_LEVEL_FATAL on. The names have one width.
constexpr LevelText kLevels[] = {
    {"*FATAL* ", LOG_CRIT},   {"*ERROR* ", LOG_ERR},  {"*WARN*  ", LOG_WARNING},
    {"*NOTE*  ", LOG_NOTICE}, {"*INFO*  ", LOG_INFO}, {"*DEBUG* ", LOG_DEBUG},
};

constexpr std::size_t kPlaceSize = 256;

const char* base_name(const char* path) {
    const char* slash = std::strrchr(path, '/');
    return slash != nullptr ? slash + 1 : path;
}

/// One write, so that lines of several threads and programs do not mix.
void write_stderr(const char* line) {
    timeval now = {};
    tm local = {};
    char date[32] = "";
    (void)gettimeofday(&now, nullptr);
    if (localtime_r(&now.tv_sec, &local) != nullptr) {
        (void)std::strftime(date, sizeof(date), "%b %d %H:%M:%S", &local);
    }
    char whole[sizeof(date) + 64 + kPlaceSize + kLogTextMax];
    std::snprintf(whole, sizeof(whole), "%s.%06ld [%d] %s", date, static_cast<long>(now.tv_usec),
                  static_cast<int>(gettid()), line);
    (void)std::fputs(whole, stderr);
}

}  // namespace

void log_default(const Where& where, Origin origin, rpma_log_level level, const char* text) {
    const LevelText& known = kLevels[level];
    char place[kPlaceSize];
    std::snprintf(place, sizeof(place), "%s: %3d: %s", base_name(where.file), where.line,
                  where.function);
    char line[16 + kPlaceSize + kLogTextMax];
    std::snprintf(line, sizeof(line), "%s%s: %s", known.name, place, text);
    if (level <= log_thresholds[RPMA_LOG_THRESHOLD_AUX].load(std::memory_order_relaxed)) {
        write_stderr(line);
    }
    if (origin == Origin::setup) {
        // The facility goes with each message: openlog() would take the program's own settings.
        syslog(LOG_LOCAL7 | known.severity, "%s", line);
    }
}

}  // namespace rpma
