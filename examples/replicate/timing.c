/* SPDX-License-Identifier: BSD-3-Clause */
#include "timing.h"

#include <stdlib.h>
#include <time.h>

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int by_value(const void* a, const void* b) {
    double x = *(const double*)a;
    double y = *(const double*)b;
    return (x > y) - (x < y);
}

double percentile(double* values, size_t count, unsigned percent) {
    size_t rank = (count * percent + 99) / 100; /* nearest rank, counted from 1 */
    qsort(values, count, sizeof(*values), by_value);
    return values[rank > 0 ? rank - 1 : 0];
}
