// SPDX-License-Identifier: BSD-3-Clause
#include "log.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "api.hpp"

namespace rpma {

std::atomic<rpma_log_level> log_thresholds[RPMA_LOG_THRESHOLD_MAX] = {RPMA_LOG_LEVEL_WARNING,
                                                                      RPMA_LOG_DISABLED};

namespace {

/// NULL stands for the default function.
std::atomic<rpma_log_function*> log_function{nullptr};

/// Copies text into out so that it is one line: everything unprintable becomes \xNN.
void escape_line(const char* text, char (&out)[kLogTextMax + 1]) {
    constexpr char digits[] = "0123456789abcdef";
    std::size_t used = 0;
    for (; *text != '\0'; ++text) {
        const auto byte = static_cast<unsigned char>(*text);
        const bool printable = byte >= 0x20 && byte < 0x7f;
        if (used + (printable ? 1 : 4) > kLogTextMax - 1) {
            break;
        }
        if (printable) {
            out[used++] = *text;
            continue;
        }
        out[used++] = '\\';
        out[used++] = 'x';
        out[used++] = digits[byte >> 4];
        out[used++] = digits[byte & 0xf];
    }
    out[used++] = '\n';
    out[used] = '\0';
}

bool is_level(rpma_log_level level) {
    return level >= RPMA_LOG_DISABLED && level <= RPMA_LOG_LEVEL_DEBUG;
}

bool is_threshold(rpma_log_threshold threshold) {
    return threshold == RPMA_LOG_THRESHOLD || threshold == RPMA_LOG_THRESHOLD_AUX;
}

}  // namespace

void log_line(const Where& where, Origin origin, rpma_log_level level, const char* format, ...) {
    if (!log_enabled(level)) {
        return;
    }
    const int saved_errno = errno;
    char text[kLogTextMax + 1];
    va_list args;
    va_start(args, format);
    std::vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    char line[kLogTextMax + 1];
    escape_line(text, line);
    // Read once: another thread may change it between a test and a call.
    rpma_log_function* const function = log_function.load(std::memory_order_acquire);
    if (function != nullptr) {
        function(level, where.file, where.line, where.function, "%s", line);
    } else {
        log_default(where, origin, level, line);
    }
    errno = saved_errno;
}

}  // namespace rpma

int rpma_log_set_function(rpma_log_function* log_function) {
    rpma::log_function.store(log_function, std::memory_order_release);
    return 0;
}

int rpma_log_set_threshold(enum rpma_log_threshold threshold, enum rpma_log_level level) {
    if (!rpma::is_threshold(threshold) || !rpma::is_level(level)) {
        return rpma::finish(
            rpma::Status::failure(RPMA_E_INVAL, "threshold %d or level %d is unknown",
                                  static_cast<int>(threshold), static_cast<int>(level)));
    }
    rpma::log_thresholds[threshold].store(level, std::memory_order_relaxed);
    return 0;
}

int rpma_log_get_threshold(enum rpma_log_threshold threshold, enum rpma_log_level* level) {
    if (const int bad = rpma::refuse_null({{"level", level}})) {
        return bad;
    }
    if (!rpma::is_threshold(threshold)) {
        return rpma::finish(rpma::Status::failure(RPMA_E_INVAL, "threshold %d is unknown",
                                                  static_cast<int>(threshold)));
    }
    *level = rpma::log_thresholds[threshold].load(std::memory_order_relaxed);
    return 0;
}
