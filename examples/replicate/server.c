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

#include "common.h"
#include "target.h"

static const char usage[] =
    "usage: replicate-server [--direct-write] ADDRESS PORT FILE [SIZE]\n"
    "  FILE            the replica, a file or device DAX; FILE.commit is made beside it\n"
    "  SIZE            bytes; FILE is created or grown to it (default: as large as it is)\n"
    "  --direct-write  what the adapter writes reaches the persistence domain without the CPU\n"
    "                  (persistent memory, and DDIO off or CPU caches protected: see "
    "rpma_peer_cfg)\n";

static int make_offer(const struct target* data, const struct target* commit, bool direct,
                      struct offer* offer) {
    struct rpma_peer_cfg* config = NULL;
    size_t cfg_size, mr_size;
    int ret = rpma_peer_cfg_new(&config);
    if (ret)
        return fail_rpma("peer configuration", ret);
    memset(offer, 0, sizeof(*offer));
    memcpy(offer->magic, OFFER_MAGIC, sizeof(offer->magic));
    if (!(ret = rpma_peer_cfg_set_direct_write_to_pmem(config, direct)) &&
        !(ret = rpma_peer_cfg_get_descriptor_size(config, &cfg_size)) &&
        !(ret = rpma_mr_get_descriptor_size(data->mr, &mr_size)) &&
        cfg_size <= sizeof(offer->peer_cfg) && mr_size <= sizeof(offer->data) &&
        !(ret = rpma_peer_cfg_get_descriptor(config, offer->peer_cfg)) &&
        !(ret = rpma_mr_get_descriptor(data->mr, offer->data)))
        ret = rpma_mr_get_descriptor(commit->mr, offer->commit);
    rpma_peer_cfg_delete(&config);
    return ret ? fail_rpma("descriptors", ret) : 0;
}

/* Each message asks that all that has been written so far be made durable; the empty answer says
 * that it is. */
static int answer_sync(struct rpma_conn* conn, const struct target* data,
                       const struct target* commit) {
    data->persist(data->address, data->size);
    commit->persist(commit->address, commit->size);
    int ret = rpma_recv(conn, NULL, 0, 0, NULL);
    if (ret == 0)
        ret = rpma_send(conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, NULL);
    return ret ? fail_rpma("answer", ret) : 0;
}

static void serve(struct rpma_conn* conn, const struct target* data, const struct target* commit) {
    struct ibv_wc wc;
    int ret = rpma_recv(conn, NULL, 0, 0, NULL);
    if (ret)
        fail_rpma("receive", ret);
    if (ret == 0)
        ret = wait_event(conn, RPMA_CONN_ESTABLISHED, SETUP_TIMEOUT_MS);
    while (ret == 0 && (ret = wait_completion(conn, &wc, -1)) == 0)
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
    int ret = rpma_ep_next_conn_req(ep, NULL, &req); /* sleeps until somebody connects */
    if (ret)
        return fail_rpma("connection request", ret);
    begin(commit);
    ret = rpma_conn_req_connect(&req, &pdata, &conn);
    if (ret) {
        fail_rpma("accepting", ret);
        return 0; /* that client's trouble; the next may come */
    }
    serve(conn, data, commit);
    rpma_conn_disconnect(conn);
    rpma_conn_delete(&conn);
    return 0;
}

static void announce(const char* file, const char* address, const char* port,
                     const struct target* data) {
    if (data->granularity == PMEM2_GRANULARITY_PAGE)
        printf(
            "%s is not on persistent memory. What clients write survives the end of this process, "
            "but a power\n"
            "failure only after the sync that they ask this server for, and if the file system is "
            "on a device.\n",
            file);
    printf("listening on %s port %s, %zu bytes\n", address, port, data->size);
    fflush(stdout);
}

int main(int argc, char* argv[]) {
    bool direct = argc > 1 && strcmp(argv[1], "--direct-write") == 0;
    char** args = argv + direct;
    int count = argc - direct;
    char* end = "";
    off_t size = count == 5 ? strtoll(args[4], &end, 10) : 0;
    if (count < 4 || count > 5 || *end != '\0' || size < 0) {
        fputs(usage, stderr);
        return 2;
    }
    char commit_path[PATH_MAX];
    snprintf(commit_path, sizeof(commit_path), "%s" COMMIT_SUFFIX, args[3]);

    struct target data, commit;
    struct offer offer;
    struct rpma_ep* ep = NULL;
    struct rpma_peer* peer = open_peer(args[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
    if (!peer || open_target(peer, args[3], size, &data) ||
        open_target(peer, commit_path, COMMIT_SIZE, &commit))
        return 1;
    if (direct && data.granularity == PMEM2_GRANULARITY_PAGE)
        return fail(args[3], "--direct-write, but not on persistent memory"), 1;
    if (make_offer(&data, &commit, direct, &offer))
        return 1;
    int ret = rpma_ep_listen(peer, args[1], args[2], &ep);
    if (ret)
        return fail_rpma("cannot listen (is the port taken?)", ret), 1;
    announce(args[3], args[1], args[2], &data);
    while (next_client(ep, &data, &commit, &offer) == 0)
        continue;
    return 1; /* the kernel takes back what the process holds */
}
