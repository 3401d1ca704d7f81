/* SPDX-License-Identifier: BSD-3-Clause */
/* A flush for visibility, taken for one that makes durable. */
#include "harness.h"

const bool declares_direct_write = false;

static int append(struct client* c, unsigned i) {
    if (put_record(c, i) || flush(c, RPMA_FLUSH_TYPE_VISIBILITY))
        return -1;
#ifdef MISTAKE
    return 0;
#else
    return ask_server(c, RECORD(i), RECORD_SIZE);
#endif
}

int work(struct client* c) {
    int ret = 0;
    for (unsigned i = 1; i <= RECORDS && ret == 0; i++)
        ret = append(c, i) || acked(i);
    return ret;
}

int on_message(struct server* s, struct message* message) {
    return persist(s, message) || answer(s);
}

int check_memory(const char* memory, unsigned acked) {
    return check_records(memory, acked);
}
