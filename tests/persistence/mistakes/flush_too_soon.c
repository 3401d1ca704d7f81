/* SPDX-License-Identifier: BSD-3-Clause */
/* The flush stands before the last write of the record, which the commit then overtakes. */
#include "harness.h"

enum { HALF = RECORD_SIZE / 2 };

const bool declares_direct_write = true;

static int put_half(struct client* c, unsigned i, size_t half) {
    return put(c, RECORD(i) + half * HALF, HALF, (char)('A' + i - 1));
}

static int append(struct client* c, unsigned i) {
#ifdef MISTAKE
    return put_half(c, i, 0) || flush(c, RPMA_FLUSH_TYPE_PERSISTENT) || put_half(c, i, 1);
#else
    return put_half(c, i, 0) || put_half(c, i, 1) || flush(c, RPMA_FLUSH_TYPE_PERSISTENT);
#endif
}

int work(struct client* c) {
    int ret = 0;
    for (unsigned i = 1; i <= RECORDS && ret == 0; i++)
        ret = append(c, i) || put_atomically(c, 0, i) || flush(c, RPMA_FLUSH_TYPE_PERSISTENT) ||
              acked(i);
    return ret;
}

/* Nobody sends any. */
int on_message(struct server* s, struct message* message) {
    (void)s;
    (void)message;
    return 0;
}

int check_memory(const char* memory, unsigned acked) {
    return check_committed(memory, acked);
}
