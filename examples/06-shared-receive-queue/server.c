/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives from several connections out of one queue of receives, so that memory is set aside for
 * the messages of all and not for those of each. Completions come in the queue's own completion
 * queue; the number of the queue pair tells the connections apart.
 */
#include <stdio.h>

#include "../common/common.h"

enum { CLIENTS = 2, MESSAGES = 5, SLOTS = 4, SIZE = 64 };

struct server {
    char slots[SLOTS][SIZE];
    struct rpma_mr_local* mr;
    struct rpma_srq* srq;
    struct rpma_cq* rcq;
    struct rpma_conn_cfg* cfg;
    struct rpma_conn* conns[CLIENTS];
    uint32_t numbers[CLIENTS];
};

/* op_context comes back as wr_id, which tells the slot that the message is in. */
static int post(struct server* s, size_t slot) {
    return check(rpma_srq_recv(s->srq, s->mr, slot * SIZE, SIZE, s->slots[slot]), "receive");
}

static int prepare(struct server* s, struct rpma_peer* peer) {
    int ret = check(rpma_mr_reg(peer, s->slots, sizeof(s->slots), RPMA_MR_USAGE_RECV, &s->mr),
                    "memory") ||
              check(rpma_srq_new(peer, NULL, &s->srq), "shared receive queue") ||
              check(rpma_srq_get_rcq(s->srq, &s->rcq), "its completion queue") ||
              check(rpma_conn_cfg_new(&s->cfg), "configuration") ||
              check(rpma_conn_cfg_set_srq(s->cfg, s->srq), "configuration");
    for (size_t slot = 0; ret == 0 && slot < SLOTS; slot++)
        ret = post(s, slot);
    return ret;
}

static int accept_clients(struct server* s, struct rpma_ep* ep) {
    for (int i = 0; i < CLIENTS; i++) {
        struct rpma_conn_req* req = NULL;
        if (next_request(ep, s->cfg, &req) || establish(&req, NULL, &s->conns[i]) ||
            check(rpma_conn_get_qp_num(s->conns[i], &s->numbers[i]), "number"))
            return -1;
    }
    return 0;
}

static int receive(struct server* s) {
    struct ibv_wc wc;
    int counts[CLIENTS] = {0};
    for (int done = 0; done < MESSAGES; done++) {
        /* Any connection will do to notice an end: none may come before the last message. */
        if (next_completion(s->conns[0], s->rcq, &wc, TIMEOUT_MS))
            return fail("messages", "fewer than expected");
        int who = wc.qp_num == s->numbers[1];
        size_t slot = (wc.wr_id - (uintptr_t)s->slots) / SIZE;
        counts[who]++;
        printf("connection %d: \"%.*s\"\n", who, (int)wc.byte_len, s->slots[slot]);
        if (post(s, slot))
            return -1;
    }
    printf("%d messages of connection 0, %d of connection 1\n", counts[0], counts[1]);
    return 0;
}

int main(int argc, char* argv[]) {
    struct server s = {.mr = NULL};
    struct rpma_peer* peer = NULL;
    struct rpma_ep* ep = NULL;
    if (argc != 3) {
        fputs("usage: shared-receive-queue-server ADDRESS PORT\n", stderr);
        return 2;
    }
    int ret = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) || prepare(&s, peer) ||
              listen_on(peer, argv[1], argv[2], &ep) || accept_clients(&s, ep) || receive(&s);
    for (int i = 0; i < CLIENTS; i++) {
        if (ret == 0)
            ret = wait_event(s.conns[i], RPMA_CONN_CLOSED, TIMEOUT_MS);
        rpma_conn_delete(&s.conns[i]);
    }
    rpma_conn_cfg_delete(&s.cfg);
    rpma_srq_delete(&s.srq); /* behind the connections that use it */
    rpma_ep_shutdown(&ep);
    rpma_mr_dereg(&s.mr);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
