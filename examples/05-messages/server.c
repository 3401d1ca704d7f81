/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers each message with the same text in capitals. */
#include <ctype.h>
#include <stdio.h>

#include "../common/common.h"

#define MESSAGE 64 /* bytes of the longest message */

struct server {
    char in[MESSAGE], out[MESSAGE];
    struct rpma_mr_local *in_mr, *out_mr;
    struct rpma_conn* conn;
};

/* The receive is posted before the connection exists: the client may send as soon as it does. */
static int accept_client(struct rpma_ep* ep, struct server* s) {
    struct rpma_conn_req* req = NULL;
    if (next_request(ep, NULL, &req))
        return -1;
    if (check(rpma_conn_req_recv(req, s->in_mr, 0, MESSAGE, NULL), "receive")) {
        rpma_conn_req_delete(&req);
        return -1;
    }
    return establish(&req, NULL, &s->conn);
}

static int answer(struct server* s, size_t length) {
    printf("received \"%.*s\"\n", (int)length, s->in);
    for (size_t i = 0; i < length; i++)
        s->out[i] = (char)toupper((unsigned char)s->in[i]);
    /* First the receive for the next message, then the answer that makes the client send it. */
    return check(rpma_recv(s->conn, s->in_mr, 0, MESSAGE, NULL), "receive") ||
           check(rpma_send(s->conn, s->out_mr, 0, length, RPMA_F_COMPLETION_ALWAYS, NULL), "send");
}

static int serve(struct server* s) {
    struct rpma_cq* cq = NULL;
    struct ibv_wc wc;
    int ret = check(rpma_conn_get_cq(s->conn, &cq), "completion queue");
    while (ret == 0 && (ret = next_completion(s->conn, cq, &wc, -1)) == 0)
        if (wc.opcode == IBV_WC_RECV) /* the others are of our own sends */
            ret = answer(s, wc.byte_len);
    return ret == 1 ? 0 : ret; /* the client has disconnected */
}

int main(int argc, char* argv[]) {
    struct server s = {.conn = NULL};
    struct rpma_peer* peer = NULL;
    struct rpma_ep* ep = NULL;
    if (argc != 3) {
        fputs("usage: messages-server ADDRESS PORT\n", stderr);
        return 2;
    }
    int ret =
        open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) ||
        check(rpma_mr_reg(peer, s.in, MESSAGE, RPMA_MR_USAGE_RECV, &s.in_mr), "registration") ||
        check(rpma_mr_reg(peer, s.out, MESSAGE, RPMA_MR_USAGE_SEND, &s.out_mr), "registration") ||
        listen_on(peer, argv[1], argv[2], &ep) || accept_client(ep, &s) || serve(&s);
    rpma_conn_delete(&s.conn);
    rpma_ep_shutdown(&ep);
    rpma_mr_dereg(&s.out_mr);
    rpma_mr_dereg(&s.in_mr);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
