/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the replica of a log that a client appends to. It may be killed at any time, and so may the
 * client: the file says how much is durable, and whoever connects next is told.
 */
#include <stdio.h>
#include <string.h>

#include "../common/common.h"
#include "../common/file.h"
#include "../common/offer.h"
#include "log.h"

struct server {
    struct file file;
    struct log_head* head; /* the beginning of the file */
    struct commit message;
    struct rpma_mr_local *file_mr, *message_mr;
    struct rpma_conn* conn;
};

static int register_all(struct rpma_peer* peer, struct server* s) {
    return check(rpma_mr_reg(peer, s->file.address, s->file.size, RPMA_MR_USAGE_WRITE_DST,
                             &s->file_mr),
                 "registration") ||
           check(rpma_mr_reg(peer, &s->message, sizeof(s->message),
                             RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_SEND, &s->message_mr),
                 "registration");
}

static int accept_client(struct rpma_conn_req* req, struct server* s) {
    struct offer offer;
    const struct rpma_conn_private_data pdata = {.ptr = &offer, .len = sizeof(offer)};
    if (make_offer(s->file_mr, false, &offer) ||
        check(rpma_conn_req_recv(req, s->message_mr, 0, sizeof(s->message), NULL), "receive")) {
        rpma_conn_req_delete(&req);
        return -1;
    }
    memcpy(offer.committed, &s->head->committed, sizeof(offer.committed));
    return establish(&req, &pdata, &s->conn);
}

/* First the bytes, then the number that makes them count. */
static int commit(struct server* s) {
    const uint64_t begin = s->head->committed;
    const uint64_t end = s->message.end;
    if (end < begin || end > s->file.size - sizeof(*s->head))
        return fail("client", "commits what cannot be");
    s->file.persist((char*)(s->head + 1) + begin, end - begin);
    s->head->committed = end;
    s->file.persist(s->head, sizeof(*s->head));
    return 0;
}

/* The buffer is free for the next message only when the answer has gone; until then none comes. */
static int on_completion(struct server* s, const struct ibv_wc* wc) {
    if (wc->opcode != IBV_WC_RECV)
        return check(rpma_recv(s->conn, s->message_mr, 0, sizeof(s->message), NULL), "receive");
    if (wc->byte_len != sizeof(s->message) || commit(s))
        return -1;
    return check(
        rpma_send(s->conn, s->message_mr, 0, sizeof(s->message), RPMA_F_COMPLETION_ALWAYS, NULL),
        "send");
}

/* A client's trouble ends its connection; the next one may come. */
static int serve(struct rpma_ep* ep, struct server* s) {
    struct rpma_conn_req* req = NULL;
    struct rpma_cq* cq = NULL;
    struct ibv_wc wc;
    if (next_request(ep, NULL, &req))
        return -1;
    int ret = accept_client(req, s) || check(rpma_conn_get_cq(s->conn, &cq), "completion queue");
    while (ret == 0) {
        ret = next_completion(s->conn, cq, &wc, -1);
        if (ret == 0)
            ret = on_completion(s, &wc);
    }
    rpma_conn_delete(&s->conn);
    printf("client gone, %zu bytes are committed\n", (size_t)s->head->committed);
    return 0;
}

int main(int argc, char* argv[]) {
    struct server s = {.conn = NULL};
    struct rpma_peer* peer = NULL;
    struct rpma_ep* ep = NULL;
    size_t size = argc == 5 ? number(argv[4]) : 0;
    if (size < 1) {
        fputs("usage: append-log-server ADDRESS PORT FILE BYTES_OF_LOG\n", stderr);
        return 2;
    }
    int ret = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) ||
              map_file(argv[3], sizeof(struct log_head) + size, &s.file);
    s.head = s.file.address;
    if (ret == 0 && s.head->committed > size)
        ret = fail(argv[3], "is no log, or of a longer one; take another file");
    ret = ret || register_all(peer, &s) || listen_on(peer, argv[1], argv[2], &ep);
    if (ret == 0)
        printf("%zu bytes are committed\n", (size_t)s.head->committed);
    while (ret == 0)
        ret = serve(ep, &s); /* one client after another, until it is killed */
    rpma_ep_shutdown(&ep);
    rpma_mr_dereg(&s.file_mr);
    rpma_mr_dereg(&s.message_mr);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
