/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens two connections and sends messages over both in turn. */
#include <stdio.h>

#include "../common/common.h"

enum { CONNECTIONS = 2, MESSAGES = 5, SIZE = 64 };

static int send_all(struct rpma_conn* conns[], const struct rpma_mr_local* mr, char* text) {
    struct ibv_wc wc;
    for (int i = 0; i < MESSAGES; i++) {
        struct rpma_conn* conn = conns[i % CONNECTIONS];
        int length = snprintf(text, SIZE, "message %d", i);
        if (check(rpma_send(conn, mr, 0, (size_t)length, RPMA_F_COMPLETION_ALWAYS, NULL), "send") ||
            wait_completion(conn, &wc))
            return -1;
    }
    printf("%d messages sent over %d connections\n", MESSAGES, CONNECTIONS);
    return 0;
}

int main(int argc, char* argv[]) {
    struct rpma_conn* conns[CONNECTIONS] = {NULL};
    struct rpma_peer* peer = NULL;
    struct rpma_mr_local* mr = NULL;
    char text[SIZE];
    if (argc != 3) {
        fputs("usage: shared-receive-queue-client ADDRESS PORT\n", stderr);
        return 2;
    }
    int ret = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE, &peer) ||
              check(rpma_mr_reg(peer, text, SIZE, RPMA_MR_USAGE_SEND, &mr), "registration");
    for (int i = 0; ret == 0 && i < CONNECTIONS; i++)
        ret = connect_to(peer, argv[1], argv[2], NULL, &conns[i]);
    if (ret == 0)
        ret = send_all(conns, mr, text);
    for (int i = 0; i < CONNECTIONS; i++) {
        if (ret == 0)
            ret = disconnect(&conns[i]);
        rpma_conn_delete(&conns[i]);
    }
    rpma_mr_dereg(&mr);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
