/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain write behind a flush in one pipeline: it may be executed before the flush has finished.
 */
#include <string.h>

#include "harness.h"

const bool declares_direct_write = true;

static int append(struct client* c, unsigned i) {
    const uint64_t count = i;
    if (put_record(c, i) || post_flush(c, RPMA_FLUSH_TYPE_PERSISTENT))
        return -1;
#ifdef MISTAKE
    memcpy(c->buffer, &count, sizeof(count));
    if (put_buffer(c, 0, sizeof(count)))
        return -1;
#else
    if (put_atomically(c, 0, count)) /* is held back until the flush has completed */
        return -1;
#endif
    return post_flush(c, RPMA_FLUSH_TYPE_PERSISTENT) || wait_one(c) || wait_one(c);
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
