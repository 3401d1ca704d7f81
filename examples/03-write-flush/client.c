/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a text and flushes it: as far as the server's platform allows. */
#include <stdio.h>
#include <string.h>

#include "../common/common.h"
#include "../common/offer.h"

static int write_and_flush(struct rpma_conn* conn, const struct rpma_mr_local* local, size_t size) {
    struct rpma_mr_remote* remote = NULL;
    struct ibv_wc wc;
    size_t room = 0;
    bool direct = false;
    int ret = take_offer(conn, &remote, &direct, NULL) ||
              check(rpma_mr_remote_get_size(remote, &room), "size of the region");
    if (ret == 0 && size > room)
        ret = fail("text", "longer than the server's file");
    const enum rpma_flush_type type =
        direct ? RPMA_FLUSH_TYPE_PERSISTENT : RPMA_FLUSH_TYPE_VISIBILITY;
    /* One completion is enough: that of the flush tells that the write is done, too. */
    if (ret == 0)
        ret = check(rpma_write(conn, remote, 0, local, 0, size, RPMA_F_COMPLETION_ON_ERROR, NULL),
                    "write") ||
              check(rpma_flush(conn, remote, 0, size, type, RPMA_F_COMPLETION_ALWAYS, NULL),
                    "flush") ||
              wait_completion(conn, &wc);
    if (ret == 0)
        printf("%zu bytes are %s\n", size, direct ? "durable" : "visible, but not durable yet");
    rpma_mr_remote_delete(&remote);
    return ret;
}

int main(int argc, char* argv[]) {
    struct rpma_peer* peer = NULL;
    struct rpma_mr_local* local = NULL;
    struct rpma_conn* conn = NULL;
    if (argc != 4 || argv[3][0] == '\0') {
        fputs("usage: write-flush-client ADDRESS PORT TEXT\n", stderr);
        return 2;
    }
    size_t size = strlen(argv[3]);
    int ret =
        open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE, &peer) ||
        check(rpma_mr_reg(peer, argv[3], size, RPMA_MR_USAGE_WRITE_SRC, &local), "registration") ||
        connect_to(peer, argv[1], argv[2], NULL, &conn) || write_and_flush(conn, local, size) ||
        disconnect(&conn);
    rpma_conn_delete(&conn);
    rpma_mr_dereg(&local);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
