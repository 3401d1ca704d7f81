/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a mistake on purpose, to show how the library explains it, then connects. */
#include <stdio.h>

#include "../common/common.h"
#include "own_log.h"

int main(int argc, char* argv[]) {
    struct ibv_context* device = NULL;
    struct rpma_peer* peer = NULL;
    struct rpma_conn* conn = NULL;
    if (argc != 3) {
        fputs("usage: logging-client ADDRESS PORT\n", stderr);
        return 2;
    }
    int ret = use_own_log() || open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE, &peer);
    if (ret == 0 && rpma_utils_get_ibv_context("no address", RPMA_UTIL_IBV_CONTEXT_LOCAL, &device))
        puts("that was to be expected");
    ret = ret || connect_to(peer, argv[1], argv[2], NULL, &conn) || disconnect(&conn);
    rpma_conn_delete(&conn);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
