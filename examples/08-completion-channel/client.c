/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends and receives with a completion queue for each, and waits for both by one descriptor: the
 * completion channel that they share.
 */
#include <poll.h>
#include <stdio.h>

#include "../common/common.h"

enum { MESSAGES = 3, SIZE = 64 };

struct client {
    char in[SIZE], out[SIZE];
    struct rpma_mr_local *in_mr, *out_mr;
    struct rpma_conn* conn;
};

static int connect_with_channel(struct rpma_peer* peer, char* argv[], struct client* c) {
    struct rpma_conn_cfg* cfg = NULL;
    struct rpma_conn_req* req = NULL;
    int ret = check(rpma_conn_cfg_new(&cfg), "configuration") ||
              check(rpma_conn_cfg_set_rcq_size(cfg, MESSAGES), "receive completion queue") ||
              check(rpma_conn_cfg_set_compl_channel(cfg, true), "shared channel") ||
              check(rpma_conn_req_new(peer, argv[1], argv[2], cfg, &req), argv[1]) ||
              establish(&req, NULL, &c->conn);
    rpma_conn_cfg_delete(&cfg);
    return ret;
}

static int collect(struct rpma_cq* cq, bool is_rcq, const char* in, int counts[2]) {
    struct ibv_wc wc;
    int ret;
    /* All of them: what is left in the queue makes no further event. */
    while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) == 0) {
        if (wc.status != IBV_WC_SUCCESS)
            return fail("operation", ibv_wc_status_str(wc.status));
        counts[is_rcq]++;
        if (is_rcq)
            printf("receive completion queue: \"%.*s\"\n", (int)wc.byte_len, in);
        else
            puts("completion queue: a send is done");
    }
    return ret == RPMA_E_NO_COMPLETION ? 0 : check(ret, "collecting");
}

static int wait_for_both(struct client* c, int number) {
    struct pollfd channel = {.events = POLLIN};
    int counts[2] = {0, 0};
    if (check(rpma_conn_get_compl_fd(c->conn, &channel.fd), "descriptor"))
        return -1;
    while (counts[0] < 1 || counts[1] < 1) {
        struct rpma_cq* cq = NULL;
        bool is_rcq = false;
        if (poll(&channel, 1, TIMEOUT_MS) <= 0)
            return fail("completion", "none in time");
        int ret = rpma_conn_wait(c->conn, 0, &cq, &is_rcq);
        if (ret == RPMA_E_NO_COMPLETION)
            continue;
        if (check(ret, "waiting") || collect(cq, is_rcq, c->in, counts))
            return -1;
    }
    printf("message %d: both have come\n", number);
    return 0;
}

static int ask(struct client* c, int number) {
    int length = snprintf(c->out, SIZE, "message %d", number);
    return check(rpma_recv(c->conn, c->in_mr, 0, SIZE, NULL), "receive") ||
           check(rpma_send(c->conn, c->out_mr, 0, (size_t)length, RPMA_F_COMPLETION_ALWAYS, NULL),
                 "send") ||
           wait_for_both(c, number);
}

int main(int argc, char* argv[]) {
    struct client c = {.conn = NULL};
    struct rpma_peer* peer = NULL;
    if (argc != 3) {
        fputs("usage: completion-channel-client ADDRESS PORT\n", stderr);
        return 2;
    }
    int ret =
        open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE, &peer) ||
        check(rpma_mr_reg(peer, c.in, SIZE, RPMA_MR_USAGE_RECV, &c.in_mr), "registration") ||
        check(rpma_mr_reg(peer, c.out, SIZE, RPMA_MR_USAGE_SEND, &c.out_mr), "registration") ||
        connect_with_channel(peer, argv, &c);
    for (int i = 0; ret == 0 && i < MESSAGES; i++)
        ret = ask(&c, i);
    if (ret == 0)
        ret = disconnect(&c.conn);
    rpma_conn_delete(&c.conn);
    rpma_mr_dereg(&c.out_mr);
    rpma_mr_dereg(&c.in_mr);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
