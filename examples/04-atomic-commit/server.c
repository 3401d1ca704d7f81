/* SPDX-License-Identifier: BSD-3-Clause */
/* Offers a file of records, and shows which are valid when the client has gone. */
#include <stdio.h>
#include <string.h>

#include "../common/common.h"
#include "../common/file.h"
#include "../common/offer.h"
#include "records.h"

#define USAGE                                                                                 \
    (RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | \
     RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)

static int serve(struct rpma_peer* peer, char* argv[], const struct file* file, bool direct) {
    struct rpma_ep* ep = NULL;
    struct rpma_mr_local* mr = NULL;
    struct rpma_conn_req* req = NULL;
    struct rpma_conn* conn = NULL;
    struct offer offer;
    const struct rpma_conn_private_data pdata = {.ptr = &offer, .len = sizeof(offer)};
    int ret = check(rpma_mr_reg(peer, file->address, file->size, USAGE, &mr), "registration") ||
              make_offer(mr, direct, &offer) || listen_on(peer, argv[0], argv[1], &ep) ||
              next_request(ep, NULL, &req) || establish(&req, &pdata, &conn) ||
              wait_event(conn, RPMA_CONN_CLOSED, -1);
    rpma_conn_delete(&conn);
    rpma_ep_shutdown(&ep);
    rpma_mr_dereg(&mr);
    return ret;
}

static int show(const struct records* records) {
    if (records->used > sizeof(records->bytes))
        return fail("file", "holds no records");
    printf("%zu bytes are valid: %.*s\n", (size_t)records->used, (int)records->used,
           records->bytes);
    return 0;
}

int main(int argc, char* argv[]) {
    bool direct = argc > 1 && strcmp(argv[1], "--direct-write") == 0;
    struct rpma_peer* peer = NULL;
    struct file file;
    argc -= direct;
    argv += direct;
    if (argc != 4) {
        fputs("usage: atomic-commit-server [--direct-write] ADDRESS PORT FILE\n", stderr);
        return 2;
    }
    int ret = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) ||
              map_file(argv[3], sizeof(struct records), &file);
    if (ret == 0 && direct && !file.on_pmem)
        ret = fail(argv[3], "--direct-write, but not on persistent memory");
    if (ret == 0)
        ret = serve(peer, argv + 1, &file, direct) || show(file.address);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
