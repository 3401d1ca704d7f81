/* SPDX-License-Identifier: BSD-3-Clause */
#include "offer.h"

#include <string.h>

#include "common.h"

#define MAGIC "rpmaex01"

int make_offer(const struct rpma_mr_local* mr, bool direct_write, struct offer* offer) {
    struct rpma_peer_cfg* cfg = NULL;
    size_t region_size = 0;
    size_t cfg_size = 0;
    memset(offer, 0, sizeof(*offer));
    memcpy(offer->magic, MAGIC, sizeof(offer->magic));
    int ret = check(rpma_peer_cfg_new(&cfg), "peer configuration") ||
              check(rpma_peer_cfg_set_direct_write_to_pmem(cfg, direct_write), "declaration") ||
              check(rpma_peer_cfg_get_descriptor_size(cfg, &cfg_size), "descriptor") ||
              check(rpma_mr_get_descriptor_size(mr, &region_size), "descriptor");
    if (ret == 0 && (cfg_size > sizeof(offer->peer_cfg) || region_size > sizeof(offer->region)))
        ret = fail("descriptor", "longer than expected");
    if (ret == 0)
        ret = check(rpma_peer_cfg_get_descriptor(cfg, offer->peer_cfg), "descriptor") ||
              check(rpma_mr_get_descriptor(mr, offer->region), "descriptor");
    rpma_peer_cfg_delete(&cfg);
    return ret;
}

int take_offer(struct rpma_conn* conn, struct rpma_mr_remote** mr, bool* direct_write,
               struct offer* raw) {
    struct rpma_conn_private_data pdata;
    struct rpma_peer_cfg* cfg = NULL;
    bool direct = false;
    if (check(rpma_conn_get_private_data(conn, &pdata), "private data"))
        return -1;
    const struct offer* offer = pdata.ptr;
    if (pdata.len < sizeof(*offer) || memcmp(offer->magic, MAGIC, sizeof(offer->magic)) != 0)
        return fail("server", "speaks another protocol");
    int ret = check(rpma_peer_cfg_from_descriptor(offer->peer_cfg, sizeof(offer->peer_cfg), &cfg),
                    "the server's configuration") ||
              check(rpma_peer_cfg_get_direct_write_to_pmem(cfg, &direct), "declaration") ||
              check(rpma_conn_apply_remote_peer_cfg(conn, cfg), "declaration") ||
              check(rpma_mr_remote_from_descriptor(offer->region, sizeof(offer->region), mr),
                    "the server's region");
    rpma_peer_cfg_delete(&cfg);
    if (direct_write != NULL)
        *direct_write = direct;
    if (raw != NULL)
        *raw = *offer;
    return ret;
}
