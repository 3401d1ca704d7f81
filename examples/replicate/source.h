/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that is replicated. */
#ifndef REPLICATE_SOURCE_H
#define REPLICATE_SOURCE_H

#include <stddef.h>

struct source {
    int fd;
    size_t size; /* bytes, at the time it was opened; never 0 */
};

/* Both: 0, or -1 after a message. */
int open_source(const char* path, struct source* source);
int read_source(const struct source* source, char* to, size_t offset, size_t length);

#endif
