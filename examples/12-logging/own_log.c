/* SPDX-License-Identifier: BSD-3-Clause */
#include "own_log.h"

#include <librpma.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../common/common.h"

static const char* const names[] = {"fatal", "error", "warning", "notice", "info", "debug"};

/*
 * Called by any thread that calls the library, so it makes one call of stdio per line, which is
 * atomic. It must not call the library itself.
 */
__attribute__((format(printf, 5, 6))) static void write_line(enum rpma_log_level level,
                                                             const char* file, const int line,
                                                             const char* function,
                                                             const char* format, ...) {
    char text[512];
    va_list arguments;
    (void)file; /* where in the library; of use to its developers only */
    (void)line;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    text[strcspn(text, "\n")] = '\0';
    printf("[%s] %s: %s\n", names[level], function, text);
}

int use_own_log(void) {
    return check(rpma_log_set_function(write_line), "log function") ||
           check(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_NOTICE), "threshold");
}
