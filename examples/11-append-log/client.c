/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replicates a log, a file that only grows, until the server has all of it durably; with --follow
 * until it is killed. When the connection breaks it connects again and goes on where the server is;
 * when it is killed itself, its next start does the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../common/common.h"
#include "../common/offer.h"
#include "log.h"

enum { PIECE = 4096, RETRY_MS = 200, TRIES = 100 /* without any progress */ };

struct client {
    char* address;
    char* port;
    bool follow; /* wait at the end of the log for more of it */
    int fd;
    char piece[PIECE];
    struct commit out, in;
    struct rpma_peer* peer;
    struct rpma_mr_local *piece_mr, *out_mr, *in_mr;
    struct rpma_mr_remote* remote;
    struct rpma_conn* conn;
    uint64_t committed;
};

static int prepare(struct client* c) {
    return open_peer(c->address, RPMA_UTIL_IBV_CONTEXT_REMOTE, &c->peer) ||
           check(rpma_mr_reg(c->peer, c->piece, PIECE, RPMA_MR_USAGE_WRITE_SRC, &c->piece_mr),
                 "registration") ||
           check(rpma_mr_reg(c->peer, &c->out, sizeof(c->out), RPMA_MR_USAGE_SEND, &c->out_mr),
                 "registration") ||
           check(rpma_mr_reg(c->peer, &c->in, sizeof(c->in), RPMA_MR_USAGE_RECV, &c->in_mr),
                 "registration");
}

/* Logs only grow: a server that has more than this one keeps another. */
static bool is_another_log(const struct client* c) {
    return c->committed > (uint64_t)lseek(c->fd, 0, SEEK_END);
}

/* 0 at the end of the log, -1 on failure, else the number of bytes behind what is committed. */
static ssize_t read_piece(struct client* c) {
    ssize_t got = pread(c->fd, c->piece, PIECE, (off_t)c->committed);
    return got < 0 ? fail("log", strerror(errno)) : got;
}

static int append(struct client* c, size_t length) {
    struct ibv_wc wc;
    c->out.end = c->committed + length;
    if (check(rpma_recv(c->conn, c->in_mr, 0, sizeof(c->in), NULL), "receive") ||
        check(rpma_write(c->conn, c->remote, sizeof(struct log_head) + c->committed, c->piece_mr, 0,
                         length, RPMA_F_COMPLETION_ON_ERROR, NULL),
              "write") ||
        check(rpma_send(c->conn, c->out_mr, 0, sizeof(c->out), RPMA_F_COMPLETION_ALWAYS, NULL),
              "send") ||
        wait_completion(c->conn, &wc) || wait_completion(c->conn, &wc))
        return -1;
    c->committed = c->in.end;
    return c->in.end == c->out.end ? 0 : fail("server", "answers something else");
}

/* One connection: from where the server is to the end of the log. */
static int replicate(struct client* c) {
    struct offer offer;
    ssize_t length = -1;
    int ret = connect_to(c->peer, c->address, c->port, NULL, &c->conn) ||
              take_offer(c->conn, &c->remote, NULL, &offer);
    if (ret == 0) {
        memcpy(&c->committed, offer.committed, sizeof(c->committed));
        printf("connected, %zu bytes are committed\n", (size_t)c->committed);
        ret = is_another_log(c) ? -1 : 0;
    }
    while (ret == 0 && ((length = read_piece(c)) > 0 || (length == 0 && c->follow)))
        ret = length > 0 ? append(c, (size_t)length) : usleep(RETRY_MS * 1000);
    if (ret == 0)
        ret = length < 0 || disconnect(&c->conn);
    rpma_conn_delete(&c->conn);
    rpma_mr_remote_delete(&c->remote);
    return ret;
}

static int replicate_persistently(struct client* c) {
    for (int tries = 0; tries < TRIES; tries++) {
        uint64_t before = c->committed;
        if (replicate(c) == 0)
            return 0;
        if (is_another_log(c))
            return fail("server", "has more than this log holds, so it keeps another one");
        if (c->committed > before)
            tries = 0;
        printf("%zu bytes are committed; trying again\n", (size_t)c->committed);
        usleep(RETRY_MS * 1000);
    }
    return fail("server", "cannot be reached any more");
}

int main(int argc, char* argv[]) {
    struct client c = {.follow = argc > 1 && strcmp(argv[1], "--follow") == 0};
    argc -= c.follow;
    argv += c.follow;
    if (argc != 4) {
        fputs("usage: append-log-client [--follow] ADDRESS PORT FILE\n", stderr);
        return 2;
    }
    c.address = argv[1];
    c.port = argv[2];
    c.fd = open(argv[3], O_RDONLY | O_CLOEXEC);
    int ret = c.fd < 0 ? fail(argv[3], strerror(errno)) : prepare(&c) || replicate_persistently(&c);
    if (ret == 0)
        printf("all %zu bytes are durable at the server\n", (size_t)c.committed);
    rpma_mr_dereg(&c.piece_mr);
    rpma_mr_dereg(&c.out_mr);
    rpma_mr_dereg(&c.in_mr);
    rpma_peer_delete(&c.peer);
    close(c.fd);
    return ret ? 1 : 0;
}
