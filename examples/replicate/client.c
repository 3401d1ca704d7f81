/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replicates a file into a server's memory: writes in pieces, a flush behind each batch of them,
 * and when all is durable, an atomic write of the commit word. The server's CPU does not move the
 * data.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/common.h"
#include "protocol.h"
#include "source.h"
#include "timing.h"

enum {
    PIECE = 64 * 1024, /* bytes of one rpma_write() */
    BATCH = 8 * PIECE, /* bytes before a flush */
    IN_FLIGHT = 2,     /* batches: one on its way while the next is read from disk */
    QUEUE = 24, /* their writes and flushes, 18 at most; else a commit, its flush, a message */
};

struct replication {
    struct source source;
    char* buffer;
    struct rpma_mr_local* buffer_mr;
    struct rpma_conn* conn;
    struct rpma_mr_remote* data;
    struct rpma_mr_remote* commit;
    bool direct;                /* the server's adapter writes into the persistence domain */
    enum rpma_flush_type flush; /* what a flush can promise there */
    double started[IN_FLIGHT], *latency; /* when a slot's flush was posted; of each, seconds */
};

static int allocate(struct replication* r) {
    r->buffer = malloc((size_t)IN_FLIGHT * BATCH);
    r->latency = calloc(r->source.size / BATCH + 1, sizeof(double));
    return r->buffer && r->latency ? 0 : fail("buffers", strerror(ENOMEM));
}

static int connect_server(struct rpma_peer* peer, const char* address, const char* port,
                          struct replication* r) {
    struct rpma_conn_cfg* cfg = NULL;
    struct rpma_conn_req* req = NULL;
    const size_t size = (size_t)IN_FLIGHT * BATCH;
    int ret = check(rpma_mr_reg(peer, r->buffer, size, RPMA_MR_USAGE_WRITE_SRC, &r->buffer_mr),
                    "buffers") ||
              check(rpma_conn_cfg_new(&cfg), "configuration") ||
              check(rpma_conn_cfg_set_sq_size(cfg, QUEUE), "configuration") ||
              /* if all fail, each makes an entry */
              check(rpma_conn_cfg_set_cq_size(cfg, QUEUE + 1), "configuration") ||
              check(rpma_conn_req_new(peer, address, port, cfg, &req), address) ||
              establish(&req, NULL, &r->conn);
    rpma_conn_cfg_delete(&cfg);
    return ret;
}

static int read_offer(struct replication* r) {
    struct rpma_conn_private_data pdata;
    struct rpma_peer_cfg* cfg = NULL;
    size_t room = 0;
    int ret = rpma_conn_get_private_data(r->conn, &pdata);
    if (check(ret, "private data"))
        return -1;
    const struct offer* offer = pdata.ptr;
    if (pdata.len < sizeof(*offer) || memcmp(offer->magic, OFFER_MAGIC, sizeof(offer->magic)) != 0)
        return fail("server", "speaks another protocol");
    if (!(ret = rpma_peer_cfg_from_descriptor(offer->peer_cfg, sizeof(offer->peer_cfg), &cfg)) &&
        !(ret = rpma_peer_cfg_get_direct_write_to_pmem(cfg, &r->direct)) &&
        !(ret = rpma_conn_apply_remote_peer_cfg(r->conn, cfg)) &&
        !(ret = rpma_mr_remote_from_descriptor(offer->data, sizeof(offer->data), &r->data)) &&
        !(ret = rpma_mr_remote_from_descriptor(offer->commit, sizeof(offer->commit), &r->commit)))
        ret = rpma_mr_remote_get_size(r->data, &room);
    rpma_peer_cfg_delete(&cfg);
    if (check(ret, "the server's descriptors"))
        return -1;
    r->flush = r->direct ? RPMA_FLUSH_TYPE_PERSISTENT : RPMA_FLUSH_TYPE_VISIBILITY;
    return r->source.size <= room ? 0 : fail("the target is too small", "the file is larger");
}

static int wait_done(struct replication* r) {
    struct ibv_wc wc;
    struct rpma_cq* cq = NULL;
    if (check(rpma_conn_get_cq(r->conn, &cq), "completion queue"))
        return -1;
    int ret = next_completion(r->conn, cq, &wc, IO_TIMEOUT_MS);
    return ret == 1 ? fail("server", "has closed the connection") : ret;
}

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

static int post_batch(struct replication* r, size_t slot, size_t offset) {
    size_t length = min(r->source.size - offset, BATCH);
    int ret = read_source(&r->source, r->buffer + slot * BATCH, offset, length);
    if (ret)
        return ret;
    for (size_t at = 0; ret == 0 && at < length; at += PIECE)
        ret = rpma_write(r->conn, r->data, offset + at, r->buffer_mr, slot * BATCH + at,
                         min(length - at, PIECE), RPMA_F_COMPLETION_ON_ERROR, NULL);
    r->started[slot] = now();
    if (ret == 0)
        ret =
            rpma_flush(r->conn, r->data, offset, length, r->flush, RPMA_F_COMPLETION_ALWAYS, NULL);
    return check(ret, "posting");
}

static int copy(struct replication* r) {
    size_t batches = (r->source.size - 1) / BATCH + 1;
    for (size_t next = 0; next < batches + IN_FLIGHT; next++) {
        size_t slot = next % IN_FLIGHT;
        if (next >= IN_FLIGHT && next - IN_FLIGHT < batches) {
            if (wait_done(r)) /* for the slot's flush: its part of the buffer is free again */
                return -1;
            r->latency[next - IN_FLIGHT] = now() - r->started[slot];
        }
        if (next < batches && post_batch(r, slot, next * BATCH))
            return -1;
        if (next < batches && isatty(STDERR_FILENO))
            fprintf(stderr, "\r%3zu %%%s", (next + 1) * 100 / batches, &"\n"[next + 1 < batches]);
    }
    return 0;
}

/* Where a flush only makes visible, the server's CPU makes durable: asked for by an empty message,
 * confirmed by an empty answer. */
static int make_durable(struct replication* r) {
    if (r->direct)
        return 0;
    int ret = rpma_recv(r->conn, NULL, 0, 0, NULL);
    if (ret == 0)
        ret = rpma_send(r->conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, NULL);
    if (check(ret, "asking for a sync"))
        return -1;
    for (int i = 0; ret == 0 && i < 2; i++) /* of message and answer, in either order */
        ret = wait_done(r);
    return ret;
}

/* Only when the data is durable: the word must not claim what a power failure would take away. */
static int commit(struct replication* r) {
    uint64_t word = r->source.size;
    const char* from = (const char*)&word;
    int ret = rpma_atomic_write(r->conn, r->commit, 0, from, RPMA_F_COMPLETION_ON_ERROR, NULL);
    if (ret == 0)
        ret = rpma_flush(r->conn, r->commit, 0, 8, r->flush, RPMA_F_COMPLETION_ALWAYS, NULL);
    if (check(ret, "commit"))
        return -1;
    return wait_done(r) ? -1 : make_durable(r);
}

static void report(struct replication* r, double copied, double total) {
    size_t size = r->source.size;
    size_t count = (size - 1) / BATCH + 1;
    printf("replicated %zu bytes in %.3f s, %.0f MB/s; with the commit %.3f s\n", size, copied,
           (double)size / copied / 1e6, total);
    printf("flush latency, each behind up to %d KiB of writes: median %.0f us, 99 %% %.0f us\n",
           BATCH / 1024, percentile(r->latency, count, 50) * 1e6,
           percentile(r->latency, count, 99) * 1e6);
    puts(r->direct ? "durable: flushed to the persistence domain that the server has declared"
                   : "durable: written back by the server (a flush alone only makes visible)");
}

static int replicate(struct replication* r) {
    double begin = now();
    if (copy(r))
        return -1;
    double copied = now() - begin;
    if (make_durable(r) || commit(r))
        return -1;
    report(r, copied, now() - begin);
    if (rpma_conn_disconnect(r->conn))
        return fail("connection", "cannot be closed");
    return wait_event(r->conn, RPMA_CONN_CLOSED, TIMEOUT_MS);
}

int main(int argc, char* argv[]) {
    struct replication r = {.source.fd = -1};
    struct rpma_peer* peer = NULL;
    if (argc != 4) {
        fputs("usage: replicate-client ADDRESS PORT FILE\n", stderr);
        return 2;
    }
    int ret = open_source(argv[3], &r.source) || allocate(&r) ||
              open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE, &peer) ||
              connect_server(peer, argv[1], argv[2], &r) || read_offer(&r) || replicate(&r);
    rpma_conn_delete(&r.conn); /* each of these accepts what was never made */
    rpma_mr_remote_delete(&r.data);
    rpma_mr_remote_delete(&r.commit);
    rpma_mr_dereg(&r.buffer_mr);
    rpma_peer_delete(&peer);
    free(r.latency);
    free(r.buffer);
    close(r.source.fd);
    return ret ? 1 : 0;
}
