// SPDX-License-Identifier: BSD-3-Clause
// The same in C++, of any standard since C++11.
#include <librpma.h>

#include <cstdio>

int main() {
    static char memory[4096];
    ibv_context* device = nullptr;
    rpma_peer* peer = nullptr;
    rpma_mr_local* mr = nullptr;
    std::size_t size = 0;
    const bool made =
        rpma_utils_get_ibv_context("127.0.0.1", RPMA_UTIL_IBV_CONTEXT_LOCAL, &device) == 0 &&
        rpma_peer_new(device, &peer) == 0 &&
        rpma_mr_reg(peer, memory, sizeof(memory), RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &mr) ==
            0 &&
        rpma_mr_get_descriptor_size(mr, &size) == 0;
    std::printf("descriptor of %zu bytes\n", size);
    rpma_mr_dereg(&mr);
    rpma_peer_delete(&peer);
    return made ? 0 : 1;
}
