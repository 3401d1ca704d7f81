/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes each of its arguments behind the one before, and has it made durable by the server. */
#include <stdio.h>
#include <string.h>

#include "../common/common.h"
#include "../common/offer.h"
#include "request.h"

enum { TEXT = 1000 };

struct client {
    char text[TEXT];
    struct request out, in;
    struct rpma_mr_local *text_mr, *in_mr, *out_mr;
    struct rpma_mr_remote* remote;
    struct rpma_conn* conn;
};

static int register_all(struct rpma_peer* peer, struct client* c) {
    return check(rpma_mr_reg(peer, c->text, TEXT, RPMA_MR_USAGE_WRITE_SRC, &c->text_mr),
                 "registration") ||
           check(rpma_mr_reg(peer, &c->in, sizeof(c->in), RPMA_MR_USAGE_RECV, &c->in_mr),
                 "registration") ||
           check(rpma_mr_reg(peer, &c->out, sizeof(c->out), RPMA_MR_USAGE_SEND, &c->out_mr),
                 "registration");
}

/* The message is posted behind the write, on the same connection, and so arrives behind it. */
static int write_durably(struct client* c, size_t offset, size_t length) {
    struct ibv_wc wc;
    c->out = (struct request){.offset = offset, .length = length};
    return check(rpma_recv(c->conn, c->in_mr, 0, sizeof(c->in), NULL), "receive") ||
           check(rpma_write(c->conn, c->remote, offset, c->text_mr, 0, length,
                            RPMA_F_COMPLETION_ON_ERROR, NULL),
                 "write") ||
           check(rpma_send(c->conn, c->out_mr, 0, sizeof(c->out), RPMA_F_COMPLETION_ALWAYS, NULL),
                 "send") ||
           wait_completion(c->conn, &wc) || wait_completion(c->conn, &wc);
}

static int write_all(struct client* c, char* texts[]) {
    size_t offset = 0;
    for (; *texts != NULL; texts++) {
        size_t length = strlen(*texts);
        if (length > TEXT)
            return fail(*texts, "the text is too long");
        memcpy(c->text, *texts, length);
        if (write_durably(c, offset, length))
            return -1;
        if (c->in.offset != offset || c->in.length != length)
            return fail("server", "answers something else");
        printf("durable: \"%s\"\n", *texts);
        offset += length;
    }
    return 0;
}

int main(int argc, char* argv[]) {
    struct client c = {.conn = NULL};
    struct rpma_peer* peer = NULL;
    if (argc < 4) {
        fputs("usage: persist-on-request-client ADDRESS PORT TEXT...\n", stderr);
        return 2;
    }
    int ret = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE, &peer) || register_all(peer, &c) ||
              connect_to(peer, argv[1], argv[2], NULL, &c.conn) ||
              take_offer(c.conn, &c.remote, NULL, NULL) || write_all(&c, argv + 3) ||
              disconnect(&c.conn);
    rpma_conn_delete(&c.conn);
    rpma_mr_remote_delete(&c.remote);
    rpma_mr_dereg(&c.text_mr);
    rpma_mr_dereg(&c.in_mr);
    rpma_mr_dereg(&c.out_mr);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
