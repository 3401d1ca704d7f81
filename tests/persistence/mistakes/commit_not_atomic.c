/* SPDX-License-Identifier: BSD-3-Clause */
/* What commits has two words, and is written by a plain write: one word may be new and the other
 * old. */
#include <stdio.h>
#include <string.h>

#include "harness.h"

enum { COMMIT = 56 }; /* the second word lies in the next line */

const bool declares_direct_write = true;

struct commit {
    uint64_t records;
    uint64_t bytes;
};

static int append(struct client* c, unsigned i) {
    const struct commit commit = {i, (uint64_t)i * RECORD_SIZE};
    if (put_record(c, i) || flush(c, RPMA_FLUSH_TYPE_PERSISTENT))
        return -1;
#ifdef MISTAKE
    memcpy(c->buffer + COMMIT, &commit, sizeof(commit));
    return put_buffer(c, COMMIT, sizeof(commit)) || flush(c, RPMA_FLUSH_TYPE_PERSISTENT);
#else
    /* The bytes first, whose number counts only together with that of the records. */
    return put_atomically(c, 512 + 8 * (size_t)i, commit.bytes) ||
           flush(c, RPMA_FLUSH_TYPE_PERSISTENT) || put_atomically(c, COMMIT, commit.records) ||
           flush(c, RPMA_FLUSH_TYPE_PERSISTENT);
#endif
}

int work(struct client* c) {
    int ret = 0;
    for (unsigned i = 1; i <= RECORDS && ret == 0; i++)
        ret = append(c, i) || acked(i);
    return ret;
}

/* Nobody sends any. */
int on_message(struct server* s, struct message* message) {
    (void)s;
    (void)message;
    return 0;
}

static struct commit read_commit(const char* memory) {
    struct commit commit;
    memcpy(&commit, memory + COMMIT, sizeof(commit));
#ifndef MISTAKE
    if (commit.records <= RECORDS)
        memcpy(&commit.bytes, memory + 512 + 8 * commit.records, sizeof(commit.bytes));
#endif
    return commit;
}

int check_memory(const char* memory, unsigned acked) {
    const struct commit commit = read_commit(memory);
    if (commit.records < acked || commit.records > RECORDS ||
        commit.bytes != commit.records * RECORD_SIZE) {
        printf("%u records were acknowledged, %llu of %llu bytes are committed\n", acked,
               (unsigned long long)commit.records, (unsigned long long)commit.bytes);
        return 1;
    }
    return check_records(memory, (unsigned)commit.records);
}
