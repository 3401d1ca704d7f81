/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the server's memory, writes into it, and reads it again. */
#include <stdio.h>
#include <stdlib.h>

#include "../common/common.h"
#include "../common/offer.h"

#define SIZE 100

static int read_text(struct rpma_conn* conn, struct rpma_mr_local* local,
                     const struct rpma_mr_remote* remote) {
    struct ibv_wc wc;
    return check(rpma_read(conn, local, 0, remote, 0, SIZE, RPMA_F_COMPLETION_ALWAYS, NULL),
                 "read") ||
           wait_completion(conn, &wc); /* not before that the data are there */
}

static int exchange(struct rpma_conn* conn, struct rpma_mr_local* local, char* text) {
    struct rpma_mr_remote* remote = NULL;
    struct ibv_wc wc;
    int ret = take_offer(conn, &remote, NULL, NULL) || read_text(conn, local, remote);
    if (ret == 0) {
        printf("read: \"%.*s\"\n", SIZE, text);
        snprintf(text, SIZE, "text of the client");
        /* Until its completion `text` must not be changed. */
        ret = check(rpma_write(conn, remote, 0, local, 0, SIZE, RPMA_F_COMPLETION_ALWAYS, NULL),
                    "write") ||
              wait_completion(conn, &wc);
    }
    if (ret == 0) {
        text[0] = '\0';
        ret = read_text(conn, local, remote); /* pushes the write before it into the memory, too */
    }
    if (ret == 0)
        printf("written and read again: \"%.*s\"\n", SIZE, text);
    rpma_mr_remote_delete(&remote);
    return ret;
}

int main(int argc, char* argv[]) {
    struct rpma_peer* peer = NULL;
    struct rpma_mr_local* local = NULL;
    struct rpma_conn* conn = NULL;
    if (argc != 3) {
        fputs("usage: read-write-client ADDRESS PORT\n", stderr);
        return 2;
    }
    char* text = calloc(1, SIZE);
    if (text == NULL)
        return fail("memory", "none left");
    int ret = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE, &peer) ||
              check(rpma_mr_reg(peer, text, SIZE, RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC,
                                &local),
                    "registration") ||
              connect_to(peer, argv[1], argv[2], NULL, &conn) || exchange(conn, local, text) ||
              disconnect(&conn);
    rpma_conn_delete(&conn);
    rpma_mr_dereg(&local);
    rpma_peer_delete(&peer);
    free(text);
    return ret ? 1 : 0;
}
