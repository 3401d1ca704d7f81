/* SPDX-License-Identifier: BSD-3-Clause */
/* Says who it is while it connects, and reads the server's answer. */
#include <stdio.h>
#include <string.h>

#include "../common/common.h"
#include "greeting.h"

static int say_name(struct rpma_peer* peer, char* argv[], struct rpma_conn** conn) {
    struct greeting greeting = {.magic = GREETING_MAGIC};
    const struct rpma_conn_private_data pdata = {.ptr = &greeting, .len = sizeof(greeting)};
    if (strlen(argv[3]) >= sizeof(greeting.text))
        return fail(argv[3], "the name is too long");
    snprintf(greeting.text, sizeof(greeting.text), "%s", argv[3]);
    return connect_to(peer, argv[1], argv[2], &pdata,
                      conn); /* rejected: an event, and so a failure */
}

static int read_answer(const struct rpma_conn* conn) {
    struct rpma_conn_private_data pdata;
    if (check(rpma_conn_get_private_data(conn, &pdata), "private data"))
        return -1;
    const struct greeting* answer = pdata.ptr;
    if (pdata.len < sizeof(*answer) || memcmp(answer->magic, GREETING_MAGIC, 8) != 0)
        return fail("server", "speaks another protocol");
    printf("connected, the server says \"%.48s\"\n", answer->text);
    return 0;
}

int main(int argc, char* argv[]) {
    struct rpma_peer* peer = NULL;
    struct rpma_conn* conn = NULL;
    if (argc != 4) {
        fputs("usage: connect-client ADDRESS PORT NAME\n", stderr);
        return 2;
    }
    int ret = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE, &peer) ||
              say_name(peer, argv, &conn) || read_answer(conn) || disconnect(&conn);
    rpma_conn_delete(&conn);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
