/* SPDX-License-Identifier: BSD-3-Clause */
#include <librpma.h>
#include <stdio.h>

/* Finds the device, registers memory, prints the size of the descriptor. Calls libibverbs itself,
 * too, as whoever looks at completions does. */
int main(void) {
    static char memory[4096];
    struct ibv_context* device = NULL;
    struct rpma_peer* peer = NULL;
    struct rpma_mr_local* mr = NULL;
    size_t size = 0;
    int ret = rpma_utils_get_ibv_context("127.0.0.1", RPMA_UTIL_IBV_CONTEXT_LOCAL, &device) ||
              rpma_peer_new(device, &peer) ||
              rpma_mr_reg(peer, memory, sizeof(memory), RPMA_MR_USAGE_SEND, &mr) ||
              rpma_mr_get_descriptor_size(mr, &size);
    if (ibv_wc_status_str(IBV_WC_SUCCESS) == NULL)
        return 1;
    printf("descriptor of %zu bytes\n", size);
    rpma_mr_dereg(&mr);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}
