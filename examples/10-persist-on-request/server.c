/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The General Purpose method: works on every platform, since the target's CPU makes the data
 * durable when it is asked to. The data themselves come by RDMA; only requests and answers pass
 * through this program.
 */
#include <stdio.h>

#include "../common/common.h"
#include "../common/file.h"
#include "../common/offer.h"
#include "request.h"

#define SIZE (1 << 20)

struct server {
    struct file file;
    struct request in, out;
    struct rpma_mr_local *file_mr, *in_mr, *out_mr;
    struct rpma_conn* conn;
};

static int register_all(struct rpma_peer* peer, struct server* s) {
    return check(rpma_mr_reg(peer, s->file.address, s->file.size, RPMA_MR_USAGE_WRITE_DST,
                             &s->file_mr),
                 "registration") ||
           check(rpma_mr_reg(peer, &s->in, sizeof(s->in), RPMA_MR_USAGE_RECV, &s->in_mr),
                 "registration") ||
           check(rpma_mr_reg(peer, &s->out, sizeof(s->out), RPMA_MR_USAGE_SEND, &s->out_mr),
                 "registration");
}

static int accept_client(struct rpma_ep* ep, struct server* s) {
    struct offer offer;
    const struct rpma_conn_private_data pdata = {.ptr = &offer, .len = sizeof(offer)};
    struct rpma_conn_req* req = NULL;
    if (make_offer(s->file_mr, false, &offer) || next_request(ep, NULL, &req))
        return -1;
    if (check(rpma_conn_req_recv(req, s->in_mr, 0, sizeof(s->in), NULL), "receive")) {
        rpma_conn_req_delete(&req);
        return -1;
    }
    return establish(&req, &pdata, &s->conn);
}

/* A request that has arrived has pushed out the writes before it: the CPU sees them. */
static int answer(struct server* s, uint32_t length) {
    if (length != sizeof(s->in) || s->in.offset > s->file.size ||
        s->in.length > s->file.size - s->in.offset)
        return fail("client", "asks for what is not in the file");
    s->file.persist((char*)s->file.address + s->in.offset, s->in.length);
    printf("%zu bytes at %zu are durable\n", (size_t)s->in.length, (size_t)s->in.offset);
    s->out = s->in;
    return check(rpma_recv(s->conn, s->in_mr, 0, sizeof(s->in), NULL), "receive") ||
           check(rpma_send(s->conn, s->out_mr, 0, sizeof(s->out), RPMA_F_COMPLETION_ALWAYS, NULL),
                 "send");
}

static int serve(struct server* s) {
    struct rpma_cq* cq = NULL;
    struct ibv_wc wc;
    int ret = check(rpma_conn_get_cq(s->conn, &cq), "completion queue");
    while (ret == 0 && (ret = next_completion(s->conn, cq, &wc, -1)) == 0)
        if (wc.opcode == IBV_WC_RECV)
            ret = answer(s, wc.byte_len);
    return ret == 1 ? 0 : ret; /* the client has disconnected */
}

int main(int argc, char* argv[]) {
    struct server s = {.conn = NULL};
    struct rpma_peer* peer = NULL;
    struct rpma_ep* ep = NULL;
    if (argc != 4) {
        fputs("usage: persist-on-request-server ADDRESS PORT FILE\n", stderr);
        return 2;
    }
    int ret = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) ||
              map_file(argv[3], SIZE, &s.file) || register_all(peer, &s) ||
              listen_on(peer, argv[1], argv[2], &ep) || accept_client(ep, &s) || serve(&s);
    rpma_conn_delete(&s.conn);
    rpma_ep_shutdown(&ep);
    rpma_mr_dereg(&s.file_mr);
    rpma_mr_dereg(&s.in_mr);
    rpma_mr_dereg(&s.out_mr);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
