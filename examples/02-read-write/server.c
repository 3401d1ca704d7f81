/* SPDX-License-Identifier: BSD-3-Clause */
/* Offers memory for reading and writing, and sleeps: its CPU takes no part in what the client does.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../common/common.h"
#include "../common/offer.h"

#define SIZE 4096

static int offer_memory(struct rpma_ep* ep, const struct rpma_mr_local* mr,
                        struct rpma_conn** conn) {
    struct offer offer;
    const struct rpma_conn_private_data pdata = {.ptr = &offer, .len = sizeof(offer)};
    struct rpma_conn_req* req = NULL;
    return make_offer(mr, false, &offer) || next_request(ep, NULL, &req) ||
           establish(&req, &pdata, conn);
}

int main(int argc, char* argv[]) {
    struct rpma_peer* peer = NULL;
    struct rpma_ep* ep = NULL;
    struct rpma_mr_local* mr = NULL;
    struct rpma_conn* conn = NULL;
    if (argc != 3) {
        fputs("usage: read-write-server ADDRESS PORT\n", stderr);
        return 2;
    }
    char* memory = calloc(1, SIZE);
    if (memory == NULL)
        return fail("memory", "none left");
    snprintf(memory, SIZE, "text of the server");
    int ret = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) ||
              check(rpma_mr_reg(peer, memory, SIZE,
                                RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST, &mr),
                    "registration") ||
              listen_on(peer, argv[1], argv[2], &ep) || offer_memory(ep, mr, &conn) ||
              wait_event(conn, RPMA_CONN_CLOSED, -1);
    if (ret == 0)
        printf("the client has left \"%.100s\"\n", memory);
    rpma_conn_delete(&conn);
    rpma_ep_shutdown(&ep);
    rpma_mr_dereg(&mr);
    rpma_peer_delete(&peer);
    free(memory);
    return ret ? 1 : 0;
}
