/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two programs agree on. */
#ifndef REPLICATE_PROTOCOL_H
#define REPLICATE_PROTOCOL_H

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

#define IO_TIMEOUT_MS 60000 /* any completion: a disk may have to sync what was replicated */

#endif
