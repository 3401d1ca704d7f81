/* SPDX-License-Identifier: BSD-3-Clause */
/* Accepts one connection; the library tells by the program's own log function what happens to it.
 */
#include <stdio.h>

#include "../common/common.h"
#include "own_log.h"

int main(int argc, char* argv[]) {
    struct rpma_peer* peer = NULL;
    struct rpma_ep* ep = NULL;
    struct rpma_conn_req* req = NULL;
    struct rpma_conn* conn = NULL;
    if (argc != 3) {
        fputs("usage: logging-server ADDRESS PORT\n", stderr);
        return 2;
    }
    int ret = use_own_log() || open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) ||
              listen_on(peer, argv[1], argv[2], &ep) || next_request(ep, NULL, &req) ||
              establish(&req, NULL, &conn) || wait_event(conn, RPMA_CONN_CLOSED, TIMEOUT_MS);
    rpma_conn_delete(&conn);
    rpma_ep_shutdown(&ep);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
