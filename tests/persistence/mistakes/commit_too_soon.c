/* SPDX-License-Identifier: BSD-3-Clause */
/* The commit word is written before the data were flushed: one flush for both is one too few. */
#include "harness.h"

const bool declares_direct_write = true;

static int append(struct client* c, unsigned i) {
    if (put_record(c, i))
        return -1;
#ifndef MISTAKE
    if (flush(c, RPMA_FLUSH_TYPE_PERSISTENT))
        return -1;
#endif
    return put_atomically(c, 0, i) || flush(c, RPMA_FLUSH_TYPE_PERSISTENT);
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

int check_memory(const char* memory, unsigned acked) {
    return check_committed(memory, acked);
}
