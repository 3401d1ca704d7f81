/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server sees the end of a record and persists it. That the last byte is there says nothing of
 * those before it: a message behind the record does.
 */
#include "harness.h"

#include <stdio.h>
#include <unistd.h>

const bool declares_direct_write = false;

enum { TRIES = 20000, PAUSE = 100 /* microseconds */ };

static int append(struct client* c, unsigned i) {
#ifdef MISTAKE
    return tell_server(c, RECORD(i), RECORD_SIZE) || put_record(c, i) || wait_one(c);
#else
    return put_record(c, i) || tell_server(c, RECORD(i), RECORD_SIZE) || wait_one(c);
#endif
}

int work(struct client* c) {
    int ret = 0;
    for (unsigned i = 1; i <= RECORDS && ret == 0; i++)
        ret = append(c, i) || acked(i);
    return ret;
}

int on_message(struct server* s, struct message* message) {
    const volatile char* last = s->memory + message->offset + message->length - 1;
    for (int i = 0; *last == 0; i++) {
        if (i == TRIES)
            return fail("record", "does not come");
        usleep(PAUSE);
    }
    return persist(s, message) || answer(s);
}

int check_memory(const char* memory, unsigned acked) {
    return check_records(memory, acked);
}
