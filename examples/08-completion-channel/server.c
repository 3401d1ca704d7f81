/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers messages, with a queue of completions for the receives alone and a channel for each: a
 * program may give the two to different threads. Here the receives are waited for, and the sends
 * are looked at only when their place is needed again.
 */
#include <stdio.h>

#include "../common/common.h"

enum { SIZE = 64 };

struct server {
    char in[SIZE], out[SIZE];
    struct rpma_mr_local *in_mr, *out_mr;
    struct rpma_conn* conn;
    struct rpma_cq *cq, *rcq;
};

static int accept_client(struct rpma_ep* ep, struct server* s) {
    struct rpma_conn_cfg* cfg = NULL;
    struct rpma_conn_req* req = NULL;
    int ret = check(rpma_conn_cfg_new(&cfg), "configuration") ||
              check(rpma_conn_cfg_set_rcq_size(cfg, 10), "receive completion queue") ||
              next_request(ep, cfg, &req);
    rpma_conn_cfg_delete(&cfg);
    if (ret == 0 && check(rpma_conn_req_recv(req, s->in_mr, 0, SIZE, NULL), "receive")) {
        rpma_conn_req_delete(&req);
        return -1;
    }
    return ret || establish(&req, NULL, &s->conn) ||
           check(rpma_conn_get_cq(s->conn, &s->cq), "completion queue") ||
           check(rpma_conn_get_rcq(s->conn, &s->rcq), "receive completion queue");
}

static int answer(struct server* s, const struct ibv_wc* wc, int number) {
    struct ibv_wc sent;
    printf("received \"%.*s\"\n", (int)wc->byte_len, s->in);
    if (number > 0 && next_completion(s->conn, s->cq, &sent, TIMEOUT_MS))
        return fail("answer", "the last one has not been sent");
    int length = snprintf(s->out, SIZE, "answer %d", number);
    return check(rpma_recv(s->conn, s->in_mr, 0, SIZE, NULL), "receive") ||
           check(rpma_send(s->conn, s->out_mr, 0, (size_t)length, RPMA_F_COMPLETION_ALWAYS, NULL),
                 "send");
}

static int serve(struct server* s) {
    struct ibv_wc wc;
    int ret = 0;
    for (int number = 0; ret == 0; number++) {
        ret = next_completion(s->conn, s->rcq, &wc, -1);
        if (ret == 0)
            ret = answer(s, &wc, number);
    }
    return ret == 1 ? 0 : ret; /* the client has disconnected */
}

int main(int argc, char* argv[]) {
    struct server s = {.conn = NULL};
    struct rpma_peer* peer = NULL;
    struct rpma_ep* ep = NULL;
    if (argc != 3) {
        fputs("usage: completion-channel-server ADDRESS PORT\n", stderr);
        return 2;
    }
    int ret =
        open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) ||
        check(rpma_mr_reg(peer, s.in, SIZE, RPMA_MR_USAGE_RECV, &s.in_mr), "registration") ||
        check(rpma_mr_reg(peer, s.out, SIZE, RPMA_MR_USAGE_SEND, &s.out_mr), "registration") ||
        listen_on(peer, argv[1], argv[2], &ep) || accept_client(ep, &s) || serve(&s);
    rpma_conn_delete(&s.conn);
    rpma_ep_shutdown(&ep);
    rpma_mr_dereg(&s.out_mr);
    rpma_mr_dereg(&s.in_mr);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
