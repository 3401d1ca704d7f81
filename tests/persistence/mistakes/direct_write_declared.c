/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct write to persistent memory is declared: with DDIO on the data lie in the CPU's cache. */
#include "harness.h"

#ifdef MISTAKE
const bool declares_direct_write = true;
#else
const bool declares_direct_write = false;
#endif

static int append(struct client* c, unsigned i) {
#ifdef MISTAKE
    return put_record(c, i) || flush(c, RPMA_FLUSH_TYPE_PERSISTENT);
#else
    return put_record(c, i) || ask_server(c, RECORD(i), RECORD_SIZE);
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
