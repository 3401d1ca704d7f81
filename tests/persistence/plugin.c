/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in that brings the libraries with it that it was linked with: nothing before it in the
 * process has them. */
#include <libpmem.h>
#include <libpmem2.h>
#include <librpma.h>
#include <stddef.h>

__attribute__((visibility("default"))) int persist(char* place, size_t length);

static int persist_a_map(void) {
    struct pmem2_config* config = NULL;
    struct pmem2_source* source = NULL;
    struct pmem2_map* map = NULL;
    int ret = pmem2_config_new(&config) ||
              pmem2_config_set_required_store_granularity(config, PMEM2_GRANULARITY_PAGE) ||
              pmem2_config_set_length(config, 65536) || pmem2_source_from_anon(&source, 65536) ||
              pmem2_map_new(&map, config, source);
    if (ret == 0)
        pmem2_get_persist_fn(map)(pmem2_map_get_address(map), 64);
    pmem2_map_delete(&map);
    pmem2_source_delete(&source);
    pmem2_config_delete(&config);
    return ret;
}

int persist(char* place, size_t length) {
    struct rpma_peer_cfg* cfg = NULL;
    pmem_persist(place, length);
    int ret = rpma_peer_cfg_new(&cfg) || rpma_peer_cfg_set_direct_write_to_pmem(cfg, false);
    rpma_peer_cfg_delete(&cfg);
    return persist_a_map() || ret;
}
