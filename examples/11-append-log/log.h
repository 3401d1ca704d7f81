/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The replica of an append-only log, and what both sides say about it. All numbers are in host
 * order: both sides are of one kind.
 */
#ifndef LOG_H
#define LOG_H

#include <stdint.h>

/* The file: this head, then the bytes of the log. Only the first `committed` of them count. What
 * lies behind may be half an append, and is written again. */
struct log_head {
    uint64_t committed;
    char unused[56];
};

/* Client: the log is written up to `end`, commit it. Server, as the answer: it is durable. */
struct commit {
    uint64_t end;
};

#endif
