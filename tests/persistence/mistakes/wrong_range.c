/* SPDX-License-Identifier: BSD-3-Clause */
/* The server persists another range than was written. */
#include "harness.h"

const bool declares_direct_write = false;

int work(struct client* c) {
    int ret = 0;
    for (unsigned i = 1; i <= RECORDS && ret == 0; i++)
        ret = put_record(c, i) || ask_server(c, RECORD(i), RECORD_SIZE) || acked(i);
    return ret;
}

int on_message(struct server* s, struct message* message) {
    struct message range = *message;
#ifdef MISTAKE
    range.length = range.length / sizeof(uint64_t); /* counts words, and not bytes */
#endif
    return persist(s, &range) || answer(s);
}

int check_memory(const char* memory, unsigned acked) {
    return check_records(memory, acked);
}
