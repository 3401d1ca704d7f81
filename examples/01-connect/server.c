/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what a client says about itself before it accepts the connection, and answers. */
#include <stdio.h>
#include <string.h>

#include "../common/common.h"
#include "greeting.h"

static int read_name(const struct rpma_conn_req* req, char name[48]) {
    struct rpma_conn_private_data pdata;
    if (check(rpma_conn_req_get_private_data(req, &pdata), "private data"))
        return -1;
    const struct greeting* greeting = pdata.ptr;
    if (pdata.len < sizeof(*greeting) || memcmp(greeting->magic, GREETING_MAGIC, 8) != 0 ||
        memchr(greeting->text, '\0', sizeof(greeting->text)) == NULL)
        return fail("client", "does not say who it is");
    memcpy(name, greeting->text, sizeof(greeting->text));
    return 0;
}

static int accept_client(struct rpma_ep* ep, struct rpma_conn** conn) {
    struct greeting answer = {.magic = GREETING_MAGIC};
    const struct rpma_conn_private_data pdata = {.ptr = &answer, .len = sizeof(answer)};
    struct rpma_conn_req* req = NULL;
    char name[48];
    if (next_request(ep, NULL, &req))
        return -1;
    if (read_name(req, name)) {
        rpma_conn_req_delete(&req); /* the client gets RPMA_CONN_REJECTED */
        return -1;
    }
    printf("request from \"%s\"\n", name);
    snprintf(answer.text, sizeof(answer.text), "welcome, %.38s", name);
    return establish(&req, &pdata, conn);
}

int main(int argc, char* argv[]) {
    struct rpma_peer* peer = NULL;
    struct rpma_ep* ep = NULL;
    struct rpma_conn* conn = NULL;
    if (argc != 3) {
        fputs("usage: connect-server ADDRESS PORT\n", stderr);
        return 2;
    }
    int ret = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) ||
              listen_on(peer, argv[1], argv[2], &ep) || accept_client(ep, &conn) ||
              wait_event(conn, RPMA_CONN_CLOSED, TIMEOUT_MS);
    if (ret == 0)
        puts("closed");
    rpma_conn_delete(&conn); /* each of these accepts what was never made */
    rpma_ep_shutdown(&ep);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
