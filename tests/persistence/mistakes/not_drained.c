/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines are written back, but nobody waits until they are. */
#include "harness.h"

const bool declares_direct_write = false;

int work(struct client* c) {
    int ret = 0;
    for (unsigned i = 1; i <= RECORDS && ret == 0; i++)
        ret = put_record(c, i) || ask_server(c, RECORD(i), RECORD_SIZE) || acked(i);
    return ret;
}

int on_message(struct server* s, struct message* message) {
    pmem2_get_flush_fn(s->map)(s->memory + message->offset, message->length);
#ifndef MISTAKE
    pmem2_get_drain_fn(s->map)();
#endif
    return answer(s);
}

int check_memory(const char* memory, unsigned acked) {
    return check_records(memory, acked);
}
