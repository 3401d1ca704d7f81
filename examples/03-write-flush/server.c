/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Offers a file, on persistent memory or not. With --direct-write it declares that what an adapter
 * writes is durable without this machine's CPU. That must be true: it is a matter of the platform
 * (DDIO off for the adapter, or CPU caches that are saved at a power failure) which no program can
 * find out. Without it clients can make their writes visible only.
 */
#include <stdio.h>
#include <string.h>

#include "../common/common.h"
#include "../common/file.h"
#include "../common/offer.h"

#define SIZE 4096

static int serve(struct rpma_peer* peer, char* argv[], const struct file* file, bool direct) {
    struct rpma_ep* ep = NULL;
    struct rpma_mr_local* mr = NULL;
    struct rpma_conn_req* req = NULL;
    struct rpma_conn* conn = NULL;
    struct offer offer;
    const struct rpma_conn_private_data pdata = {.ptr = &offer, .len = sizeof(offer)};
    const int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
                      (direct ? RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT : 0);
    int ret = check(rpma_mr_reg(peer, file->address, file->size, usage, &mr), "registration") ||
              make_offer(mr, direct, &offer) || listen_on(peer, argv[0], argv[1], &ep) ||
              next_request(ep, NULL, &req) || establish(&req, &pdata, &conn) ||
              wait_event(conn, RPMA_CONN_CLOSED, -1);
    rpma_conn_delete(&conn);
    rpma_ep_shutdown(&ep);
    rpma_mr_dereg(&mr);
    return ret;
}

int main(int argc, char* argv[]) {
    bool direct = argc > 1 && strcmp(argv[1], "--direct-write") == 0;
    struct rpma_peer* peer = NULL;
    struct file file;
    argc -= direct;
    argv += direct;
    if (argc != 4) {
        fputs("usage: write-flush-server [--direct-write] ADDRESS PORT FILE\n", stderr);
        return 2;
    }
    int ret =
        open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) || map_file(argv[3], SIZE, &file);
    if (ret == 0 && direct && !file.on_pmem)
        ret = fail(argv[3], "--direct-write, but not on persistent memory");
    if (ret == 0)
        ret = serve(peer, argv + 1, &file, direct);
    if (ret == 0 && !direct) {
        file.persist(file.address, file.size); /* what the client could not do from outside */
        puts("made durable by the server");
    }
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
