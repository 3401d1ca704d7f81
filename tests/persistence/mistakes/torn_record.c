/* SPDX-License-Identifier: BSD-3-Clause */
/* A log without a commit word: recovery takes every record whose head is there, although the rest
 * may not be. */
#include <stdio.h>
#include <string.h>

#include "harness.h"

struct head {
    uint64_t length;
    uint64_t checksum;
};

enum { BODY = RECORD_SIZE - sizeof(struct head) };

const bool declares_direct_write = true;

static uint64_t checksum(const char* bytes, size_t length) {
    uint64_t sum = 14695981039346656037ULL;
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * 1099511628211ULL;
    return sum;
}

static int append(struct client* c, unsigned i) {
    char* const record = c->buffer + RECORD(i);
    memset(record + sizeof(struct head), 'A' + (int)i - 1, BODY);
    const struct head head = {BODY, checksum(record + sizeof(struct head), BODY)};
    memcpy(record, &head, sizeof(head));
    return put_buffer(c, RECORD(i), RECORD_SIZE) || flush(c, RPMA_FLUSH_TYPE_PERSISTENT);
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

/* Recovery: is there a record? */
static int recovered(const char* record) {
    struct head head;
    memcpy(&head, record, sizeof(head));
#ifdef MISTAKE
    return head.length == BODY;
#else
    return head.length == BODY && head.checksum == checksum(record + sizeof(head), BODY);
#endif
}

static int body_is(const char* record, char value) {
    for (size_t i = sizeof(struct head); i < RECORD_SIZE; i++)
        if (record[i] != value)
            return 0;
    return 1;
}

/* Every record that was acknowledged is recovered, and every record that is recovered is right. */
int check_memory(const char* memory, unsigned acked) {
    for (unsigned i = 1; i <= RECORDS; i++) {
        const char* const record = memory + RECORD(i);
        if (i <= acked && !recovered(record)) {
            printf("record %u was acknowledged and is not recovered\n", i);
            return 1;
        }
        if (recovered(record) && !body_is(record, (char)('A' + i - 1))) {
            printf("record %u is recovered, but torn\n", i);
            return 1;
        }
    }
    return 0;
}
