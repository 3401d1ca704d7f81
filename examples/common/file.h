/* SPDX-License-Identifier: BSD-3-Clause */
/* A file in memory, on persistent memory or not. */
#ifndef EXAMPLES_FILE_H
#define EXAMPLES_FILE_H

#include <libpmem2.h>
#include <stdbool.h>
#include <stddef.h>

struct file {
    void* address;
    size_t size;
    bool on_pmem;             /* false: persist() is an msync(2) */
    pmem2_persist_fn persist; /* makes durable what this machine's CPU can see */
};

/* Creates the file, or grows it to `size` bytes, and maps it until the program ends. */
int map_file(const char* path, size_t size, struct file* file);

#endif
