/* SPDX-License-Identifier: BSD-3-Clause */
/* How a server tells a client about the memory it may use: in the private data of the answer. */
#ifndef EXAMPLES_OFFER_H
#define EXAMPLES_OFFER_H

#include <librpma.h>

/*
 * Only bytes, so there is neither padding nor a byte order to agree on. Private data have no length
 * of their own on RoCE (zeros follow up to the transport's limit), hence the magic. Descriptors
 * have 21 bytes (region) and 1 byte (configuration); bytes behind them are ignored.
 */
struct offer {
    char magic[8];
    unsigned char region[24];
    unsigned char peer_cfg[8];
    unsigned char committed[8]; /* of 11-append-log only: a number in host order */
};

/* Server: `direct_write` declares that what an adapter writes here reaches the persistence domain
 * without the CPU. */
int make_offer(const struct rpma_mr_local* mr, bool direct_write, struct offer* offer);

/* Client: makes the remote region, and tells the connection what the server has declared.
 * *direct_write and *raw (the offer itself) may be NULL. */
int take_offer(struct rpma_conn* conn, struct rpma_mr_remote** mr, bool* direct_write,
               struct offer* raw);

#endif
