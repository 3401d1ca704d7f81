/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends each of its arguments as a message and waits for the answer. */
#include <stdio.h>
#include <string.h>

#include "../common/common.h"

#define MESSAGE 64

struct client {
    char in[MESSAGE], out[MESSAGE];
    struct rpma_mr_local *in_mr, *out_mr;
    struct rpma_conn* conn;
};

static int ask(struct client* c, const char* text) {
    struct ibv_wc wc[2];
    size_t length = strlen(text);
    if (length > MESSAGE)
        return fail(text, "the message is too long");
    memcpy(c->out, text, length);
    if (check(rpma_recv(c->conn, c->in_mr, 0, MESSAGE, NULL), "receive") ||
        check(rpma_send(c->conn, c->out_mr, 0, length, RPMA_F_COMPLETION_ALWAYS, NULL), "send") ||
        wait_completion(c->conn, &wc[0]) || wait_completion(c->conn, &wc[1]))
        return -1;
    /* The message's own completion and that of the answer come in either order. */
    const struct ibv_wc* answer = &wc[wc[0].opcode != IBV_WC_RECV];
    printf("\"%s\" is answered by \"%.*s\"\n", text, (int)answer->byte_len, c->in);
    return 0;
}

int main(int argc, char* argv[]) {
    struct client c = {.conn = NULL};
    struct rpma_peer* peer = NULL;
    if (argc < 4) {
        fputs("usage: messages-client ADDRESS PORT TEXT...\n", stderr);
        return 2;
    }
    int ret =
        open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE, &peer) ||
        check(rpma_mr_reg(peer, c.in, MESSAGE, RPMA_MR_USAGE_RECV, &c.in_mr), "registration") ||
        check(rpma_mr_reg(peer, c.out, MESSAGE, RPMA_MR_USAGE_SEND, &c.out_mr), "registration") ||
        connect_to(peer, argv[1], argv[2], NULL, &c.conn);
    for (int i = 3; ret == 0 && i < argc; i++)
        ret = ask(&c, argv[i]);
    if (ret == 0)
        ret = disconnect(&c.conn);
    rpma_conn_delete(&c.conn);
    rpma_mr_dereg(&c.out_mr);
    rpma_mr_dereg(&c.in_mr);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
