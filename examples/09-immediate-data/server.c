/* SPDX-License-Identifier: BSD-3-Clause */
/* Is told by 32 bits that come with a write, or with a message: without them a write is silent. */
#include <arpa/inet.h>
#include <stdio.h>

#include "../common/common.h"
#include "../common/offer.h"

enum { SIZE = 4096, RECEIVE = 64, NOTICES = 3 };

struct server {
    char memory[SIZE], message[RECEIVE];
    struct rpma_mr_local *memory_mr, *message_mr;
    struct rpma_conn* conn;
};

/* Each notice consumes a receive, which a write leaves empty. */
static int accept_client(struct rpma_ep* ep, struct server* s) {
    struct offer offer;
    const struct rpma_conn_private_data pdata = {.ptr = &offer, .len = sizeof(offer)};
    struct rpma_conn_req* req = NULL;
    if (make_offer(s->memory_mr, false, &offer) || next_request(ep, NULL, &req))
        return -1;
    for (int i = 0; i < NOTICES; i++) {
        if (check(rpma_conn_req_recv(req, s->message_mr, 0, RECEIVE, NULL), "receive")) {
            rpma_conn_req_delete(&req);
            return -1;
        }
    }
    return establish(&req, &pdata, &s->conn);
}

static int show(struct server* s) {
    struct ibv_wc wc;
    if (wait_completion(s->conn, &wc))
        return -1;
    if (!(wc.wc_flags & IBV_WC_WITH_IMM))
        return fail("notice", "without immediate data");
    uint32_t value = ntohl(wc.imm_data); /* it travels in network byte order */
    if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && value < SIZE)
        printf("written at %u: \"%.20s\"\n", value, s->memory + value);
    else
        printf("message %u: \"%.*s\"\n", value, (int)wc.byte_len, s->message);
    return 0;
}

int main(int argc, char* argv[]) {
    static struct server s;
    struct rpma_peer* peer = NULL;
    struct rpma_ep* ep = NULL;
    if (argc != 3) {
        fputs("usage: immediate-data-server ADDRESS PORT\n", stderr);
        return 2;
    }
    int ret = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) ||
              check(rpma_mr_reg(peer, s.memory, SIZE, RPMA_MR_USAGE_WRITE_DST, &s.memory_mr),
                    "registration") ||
              check(rpma_mr_reg(peer, s.message, RECEIVE, RPMA_MR_USAGE_RECV, &s.message_mr),
                    "registration") ||
              listen_on(peer, argv[1], argv[2], &ep) || accept_client(ep, &s);
    for (int i = 0; ret == 0 && i < NOTICES; i++)
        ret = show(&s);
    if (ret == 0)
        ret = wait_event(s.conn, RPMA_CONN_CLOSED, TIMEOUT_MS);
    rpma_conn_delete(&s.conn);
    rpma_ep_shutdown(&ep);
    rpma_mr_dereg(&s.message_mr);
    rpma_mr_dereg(&s.memory_mr);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
