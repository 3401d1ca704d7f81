/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPLICATE_TIMING_H
#define REPLICATE_TIMING_H

#include <stddef.h>

/* Seconds on a clock that only goes forward. */
double now(void);

/* The value below or at which `percent` of the values lie; sorts them. `count` is not 0. */
double percentile(double* values, size_t count, unsigned percent);

#endif
