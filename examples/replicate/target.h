/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that the other side may write to: mapped through libpmem2 and registered. */
#ifndef REPLICATE_TARGET_H
#define REPLICATE_TARGET_H

#include <libpmem2.h>
#include <librpma.h>
#include <sys/types.h>

struct target {
    void* address;
    size_t size; /* bytes */
    enum pmem2_granularity
        granularity; /* PAGE: not persistent memory, persist() is an msync(2) then */
    pmem2_persist_fn persist;
    struct rpma_mr_local* mr;
};

/*
 * Creates `path`, or grows it to `size` bytes (never shrinks it); `size` 0 takes it as it is.
 * Registered for writing and flushes, those to persistence on persistent memory only. 0, or -1
 * after a message.
 */
int open_target(struct rpma_peer* peer, const char* path, off_t size, struct target* target);

#endif
