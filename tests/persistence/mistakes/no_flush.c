/* SPDX-License-Identifier: BSD-3-Clause */
/* A write has completed: it has arrived at the adapter. Nothing more is known. */
#include "harness.h"

const bool declares_direct_write = true;

static int append(struct client* c, unsigned i) {
#ifdef MISTAKE
    return put_and_wait(c, RECORD(i), RECORD_SIZE, (char)('A' + i - 1));
#else
    return put_record(c, i) || flush(c, RPMA_FLUSH_TYPE_PERSISTENT);
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

int check_memory(const char* memory, unsigned acked) {
    return check_records(memory, acked);
}
