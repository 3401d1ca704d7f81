/* SPDX-License-Identifier: BSD-3-Clause */
/* The server answers before its CPU has persisted. */
#include "harness.h"

const bool declares_direct_write = false;

int work(struct client* c) {
    int ret = 0;
    for (unsigned i = 1; i <= RECORDS && ret == 0; i++)
        ret = put_record(c, i) || ask_server(c, RECORD(i), RECORD_SIZE) || acked(i);
    return ret;
}

/* The answer's buffer is the message's: what it says is needed afterwards, too. */
int on_message(struct server* s, struct message* message) {
    const struct message range = *message;
#ifdef MISTAKE
    return answer(s) || persist(s, &range);
#else
    return persist(s, &range) || answer(s);
#endif
}

int check_memory(const char* memory, unsigned acked) {
    return check_records(memory, acked);
}
