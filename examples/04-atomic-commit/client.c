/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Appends a record: the data, a flush behind them, and only then the number that makes them valid,
 * by rpma_atomic_write(), which is held back behind flushes and written whole or not at all. So all
 * four operations can be posted at once.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "../common/common.h"
#include "../common/offer.h"
#include "records.h"

#define ON_ERROR RPMA_F_COMPLETION_ON_ERROR

struct client {
    struct rpma_conn* conn;
    struct rpma_mr_local *text, *used_mr;
    struct rpma_mr_remote* remote;
    enum rpma_flush_type flush;
    uint64_t used;
};

static int read_used(struct client* c) {
    struct ibv_wc wc;
    bool direct = false;
    size_t room = 0;
    if (take_offer(c->conn, &c->remote, &direct, NULL) ||
        check(rpma_mr_remote_get_size(c->remote, &room), "size of the region") ||
        check(rpma_read(c->conn, c->used_mr, 0, c->remote, offsetof(struct records, used),
                        sizeof(c->used), RPMA_F_COMPLETION_ALWAYS, NULL),
              "read") ||
        wait_completion(c->conn, &wc))
        return -1;
    c->flush = direct ? RPMA_FLUSH_TYPE_PERSISTENT : RPMA_FLUSH_TYPE_VISIBILITY;
    return room >= sizeof(struct records) && c->used <= sizeof(((struct records*)0)->bytes)
               ? 0
               : fail("server", "holds no records");
}

static int append(struct client* c, size_t size) {
    const size_t place = offsetof(struct records, bytes) + c->used;
    const size_t word = offsetof(struct records, used);
    const uint64_t now_used = c->used + size;
    struct ibv_wc wc;
    if (now_used > sizeof(((struct records*)0)->bytes))
        return fail("record", "the file is full");
    char bytes[sizeof(now_used)];
    memcpy(bytes, &now_used, sizeof(bytes));
    if (check(rpma_write(c->conn, c->remote, place, c->text, 0, size, ON_ERROR, NULL), "write") ||
        check(rpma_flush(c->conn, c->remote, place, size, c->flush, ON_ERROR, NULL), "flush") ||
        check(rpma_atomic_write(c->conn, c->remote, word, bytes, ON_ERROR, NULL), "commit") ||
        check(rpma_flush(c->conn, c->remote, word, sizeof(bytes), c->flush,
                         RPMA_F_COMPLETION_ALWAYS, NULL),
              "flush") ||
        wait_completion(c->conn, &wc))
        return -1;
    printf("appended %zu bytes behind %zu\n", size, (size_t)c->used);
    return 0;
}

int main(int argc, char* argv[]) {
    struct client c = {.conn = NULL};
    struct rpma_peer* peer = NULL;
    if (argc != 4 || argv[3][0] == '\0') {
        fputs("usage: atomic-commit-client ADDRESS PORT TEXT\n", stderr);
        return 2;
    }
    size_t size = strlen(argv[3]);
    int ret =
        open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE, &peer) ||
        check(rpma_mr_reg(peer, argv[3], size, RPMA_MR_USAGE_WRITE_SRC, &c.text), "registration") ||
        check(rpma_mr_reg(peer, &c.used, sizeof(c.used), RPMA_MR_USAGE_READ_DST, &c.used_mr),
              "registration") ||
        connect_to(peer, argv[1], argv[2], NULL, &c.conn) || read_used(&c) || append(&c, size) ||
        disconnect(&c.conn);
    rpma_conn_delete(&c.conn);
    rpma_mr_remote_delete(&c.remote);
    rpma_mr_dereg(&c.used_mr);
    rpma_mr_dereg(&c.text);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
