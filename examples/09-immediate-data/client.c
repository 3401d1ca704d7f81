/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes twice, telling by immediate data where, and sends a message with a number. */
#include <stdio.h>
#include <string.h>

#include "../common/common.h"
#include "../common/offer.h"

enum { SIZE = 64, PLACE = 1000 };

struct client {
    char text[SIZE];
    struct rpma_mr_local* mr;
    struct rpma_mr_remote* remote;
    struct rpma_conn* conn;
};

static int write_at(struct client* c, uint32_t place, const char* text) {
    struct ibv_wc wc;
    snprintf(c->text, SIZE, "%s", text);
    return check(rpma_write_with_imm(c->conn, c->remote, place, c->mr, 0, strlen(text) + 1,
                                     RPMA_F_COMPLETION_ALWAYS, place, NULL),
                 "write") ||
           wait_completion(c->conn, &wc);
}

static int send_numbered(struct client* c, uint32_t number, const char* text) {
    struct ibv_wc wc;
    snprintf(c->text, SIZE, "%s", text);
    return check(rpma_send_with_imm(c->conn, c->mr, 0, strlen(text), RPMA_F_COMPLETION_ALWAYS,
                                    number, NULL),
                 "send") ||
           wait_completion(c->conn, &wc);
}

int main(int argc, char* argv[]) {
    struct client c = {.conn = NULL};
    struct rpma_peer* peer = NULL;
    if (argc != 3) {
        fputs("usage: immediate-data-client ADDRESS PORT\n", stderr);
        return 2;
    }
    int ret =
        open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE, &peer) ||
        check(rpma_mr_reg(peer, c.text, SIZE, RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_SEND, &c.mr),
              "registration") ||
        connect_to(peer, argv[1], argv[2], NULL, &c.conn) ||
        take_offer(c.conn, &c.remote, NULL, NULL) || write_at(&c, 0, "first") ||
        write_at(&c, PLACE, "second") || send_numbered(&c, 7, "that is all") || disconnect(&c.conn);
    if (ret == 0)
        puts("two writes and a message, each with 32 bits");
    rpma_conn_delete(&c.conn);
    rpma_mr_remote_delete(&c.remote);
    rpma_mr_dereg(&c.mr);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
