/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Offers a file as the target of a replication: maps it, registers it, tells the client where it
 * is. The client's writes then arrive without this program doing anything; it wakes up only to
 * write memory back where a client cannot (sync). Serves one client after another until it is
 * killed.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/common.h"
#include "protocol.h"
#include "target.h"

static const char usage[] =
    "usage: replicate-server [--direct-write] ADDRESS PORT FILE [SIZE]\n"
    "  FILE            the replica, a file or device DAX; FILE.commit is made beside it\n"
    "  SIZE            bytes; FILE is created or grown to it (default: as large as it is)\n"
    "  --direct-write  what the adapter writes reaches the persistence domain without the CPU\n"
    "                  (persistent memory, and either DDIO off or CPU caches protected)\n";

static int make_offer(const struct target* data, const struct target* commit, bool direct,
                      struct offer* offer) {
    struct rpma_peer_cfg* config = NULL;
    size_t cfg_size = 0;
    size_t mr_size = 0;
    memset(offer, 0, sizeof(*offer));
    memcpy(offer->magic, OFFER_MAGIC, sizeof(offer->magic));
    int ret = rpma_peer_cfg_new(&config);
    if (ret == 0)
        ret = rpma_peer_cfg_set_direct_write_to_pmem(config, direct);
    if (ret == 0)
        ret = rpma_peer_cfg_get_descriptor_size(config, &cfg_size);
    if (ret == 0)
        ret = rpma_mr_get_descriptor_size(data->mr, &mr_size);
    if (ret == 0 && (cfg_size > sizeof(offer->peer_cfg) || mr_size > sizeof(offer->data)))
        ret = RPMA_E_NOSUPP; /* a later library with longer descriptors */
    if (ret == 0)
        ret = rpma_peer_cfg_get_descriptor(config, offer->peer_cfg);
    if (ret == 0)
        ret = rpma_mr_get_descriptor(data->mr, offer->data);
    if (ret == 0)
        ret = rpma_mr_get_descriptor(commit->mr, offer->commit);
    rpma_peer_cfg_delete(&config);
    return check(ret, "descriptors");
}

/* A message asks that all that was written so far be made durable; the answer says that it is. */
static int answer_sync(struct rpma_conn* conn, const struct target* data,
                       const struct target* commit) {
    data->persist(data->address, data->size);
    commit->persist(commit->address, commit->size);
    int ret = rpma_recv(conn, NULL, 0, 0, NULL);
    if (ret == 0)
        ret = rpma_send(conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, NULL);
    return check(ret, "answer");
}

static void serve(struct rpma_conn* conn, const struct target* data, const struct target* commit) {
    struct ibv_wc wc;
    struct rpma_cq* cq = NULL;
    int ret = check(rpma_recv(conn, NULL, 0, 0, NULL), "receive") ||
              check(rpma_conn_get_cq(conn, &cq), "completion queue") ||
              wait_event(conn, RPMA_CONN_ESTABLISHED, TIMEOUT_MS);
    while (ret == 0 && (ret = next_completion(conn, cq, &wc, -1)) == 0)
        if (wc.opcode == IBV_WC_RECV)
            ret = answer_sync(conn, data, commit);
    printf("client gone, %" PRIu64 " bytes are committed\n", *(volatile uint64_t*)commit->address);
}

/* From here on the replica is incomplete, and says so, also after a power failure. */
static void begin(const struct target* commit) {
    *(volatile uint64_t*)commit->address = 0;
    commit->persist(commit->address, sizeof(uint64_t));
}

static int next_client(struct rpma_ep* ep, const struct target* data, const struct target* commit,
                       struct offer* offer) {
    struct rpma_conn_private_data pdata = {.ptr = offer, .len = sizeof(*offer)};
    struct rpma_conn_req* req = NULL;
    struct rpma_conn* conn = NULL;
    if (next_request(ep, NULL, &req))
        return -1;
    begin(commit);
    if (check(rpma_conn_req_connect(&req, &pdata, &conn), "accepting"))
        return 0; /* that client's trouble; the next may come */
    serve(conn, data, commit);
    rpma_conn_disconnect(conn);
    rpma_conn_delete(&conn);
    return 0;
}

static const char no_pmem[] =
    "%s is not on persistent memory. What clients write there survives the end of this\n"
    "process, but a power failure only after the sync that they ask for, and only if the file\n"
    "system keeps its files on a device.\n";

static void announce(char** args, const struct target* data) {
    if (data->granularity == PMEM2_GRANULARITY_PAGE)
        printf(no_pmem, args[2]);
    printf("listening on %s port %s, %zu bytes\n", args[0], args[1], data->size);
}

static int run(struct rpma_peer* peer, char** args, off_t size, bool direct) {
    struct target data = {.mr = NULL};
    struct target commit = {.mr = NULL};
    struct offer offer;
    struct rpma_ep* ep = NULL;
    char commit_path[PATH_MAX];
    snprintf(commit_path, sizeof(commit_path), "%s" COMMIT_SUFFIX, args[2]);
    int ret = open_target(peer, args[2], size, &data);
    if (ret == 0)
        ret = open_target(peer, commit_path, COMMIT_SIZE, &commit);
    if (ret == 0 && direct && data.granularity == PMEM2_GRANULARITY_PAGE)
        ret = fail(args[2], "--direct-write, but not on persistent memory");
    if (ret == 0)
        ret = make_offer(&data, &commit, direct, &offer);
    if (ret == 0)
        ret = check(rpma_ep_listen(peer, args[0], args[1], &ep),
                    "cannot listen (is the port taken?)");
    if (ret == 0)
        announce(args, &data);
    while (ret == 0)
        ret = next_client(ep, &data, &commit, &offer);
    rpma_ep_shutdown(&ep);
    rpma_mr_dereg(&commit.mr);
    rpma_mr_dereg(&data.mr);
    return ret;
}

int main(int argc, char* argv[]) {
    bool direct = argc > 1 && strcmp(argv[1], "--direct-write") == 0;
    char** args = argv + 1 + direct;
    int count = argc - 1 - direct;
    char* end = "";
    off_t size = count == 4 ? strtoll(args[3], &end, 10) : 0;
    if (count < 3 || count > 4 || *end != '\0' || size < 0) {
        fputs(usage, stderr);
        return 2;
    }
    struct rpma_peer* peer = NULL;
    int ret =
        open_peer(args[0], RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) || run(peer, args, size, direct);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
