/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two programs agree on, and the waiting both do. */
#ifndef REPLICATE_COMMON_H
#define REPLICATE_COMMON_H

#include <librpma.h>

/*
 * Sent by the server when it accepts. Private data carries no length of its own on RoCE (the
 * receiver sees zeros up to the transport's limit), hence the magic. Only bytes, so there is no
 * padding and no byte order to agree on.
 */
#define OFFER_MAGIC "rpmacpy1"
struct offer {
    char magic[8];
    unsigned char peer_cfg[8]; /* rpma_peer_cfg_get_descriptor() */
    unsigned char data[24];    /* rpma_mr_get_descriptor() of the file's bytes */
    unsigned char commit[24];  /* the same of the commit word */
};

/*
 * The commit word, 8 bytes in host order, lies in a file of its own, so that the replica is byte
 * for byte the source: 0 while a replication is under way, else the number of bytes of the replica
 * that are complete.
 */
#define COMMIT_SUFFIX ".commit"
#define COMMIT_SIZE 4096

#define SETUP_TIMEOUT_MS 10000 /* each step of connecting */
#define IO_TIMEOUT_MS                                                           \
    60000 /* any completion: long enough for a disk to sync what was replicated \
           */

/* Prints "program: what: why" to stderr. Returns -1, to be handed on. */
int fail(const char* what, const char* why);
int fail_rpma(const char* what,
              int result); /* one of RPMA_E_*; the library has logged the details */

/* Shows the library's warnings on stderr, and finds the peer for an address. NULL after a message.
 */
struct rpma_peer* open_peer(const char* address, enum rpma_util_ibv_context_type type);

/* Waits for `wanted`; any other event, or none in time (-1: no limit), is a failure. */
int wait_event(struct rpma_conn* conn, enum rpma_conn_event wanted, int timeout_ms);

/*
 * Waits for the next completion of the connection's CQ. 0: *wc holds a successful one. 1: the peer
 * has closed the connection (not reported). -1: failure, reported.
 */
int wait_completion(struct rpma_conn* conn, struct ibv_wc* wc, int timeout_ms);

#endif
