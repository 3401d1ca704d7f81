/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens several connections at once, sends a message over each, and checks that it comes back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/common.h"

#define SIZE 64

struct link {
    char out[SIZE], in[SIZE];
    struct rpma_mr_local *out_mr, *in_mr;
    struct rpma_conn* conn;
};

static int start(struct rpma_peer* peer, char* argv[], int number, struct link* l) {
    int length = snprintf(l->out, SIZE, "message of connection %d", number);
    return check(rpma_mr_reg(peer, l->out, SIZE, RPMA_MR_USAGE_SEND, &l->out_mr), "registration") ||
           check(rpma_mr_reg(peer, l->in, SIZE, RPMA_MR_USAGE_RECV, &l->in_mr), "registration") ||
           connect_to(peer, argv[1], argv[2], NULL, &l->conn) ||
           check(rpma_recv(l->conn, l->in_mr, 0, SIZE, NULL), "receive") ||
           check(rpma_send(l->conn, l->out_mr, 0, (size_t)length, RPMA_F_COMPLETION_ALWAYS, NULL),
                 "send");
}

static int finish(struct link* l) {
    struct ibv_wc wc[2]; /* of the message and of what comes back, in either order */
    if (wait_completion(l->conn, &wc[0]) || wait_completion(l->conn, &wc[1]))
        return -1;
    return strcmp(l->in, l->out) ? fail(l->in, "is not what was sent") : disconnect(&l->conn);
}

int main(int argc, char* argv[]) {
    struct rpma_peer* peer = NULL;
    int count = argc == 4 ? (int)number(argv[3]) : 0;
    if (count < 1) {
        fputs("usage: many-connections-client ADDRESS PORT CONNECTIONS\n", stderr);
        return 2;
    }
    struct link* links = calloc((size_t)count, sizeof(*links));
    if (links == NULL)
        return fail("memory", "none left");
    int ret = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE, &peer);
    for (int i = 0; ret == 0 && i < count; i++)
        ret = start(peer, argv, i, &links[i]);
    for (int i = 0; ret == 0 && i < count; i++)
        ret = finish(&links[i]);
    if (ret == 0)
        printf("%d messages came back\n", count);
    for (int i = 0; i < count; i++) {
        rpma_conn_delete(&links[i].conn);
        rpma_mr_dereg(&links[i].out_mr);
        rpma_mr_dereg(&links[i].in_mr);
    }
    rpma_peer_delete(&peer);
    free(links);
    return ret ? 1 : 0;
}
