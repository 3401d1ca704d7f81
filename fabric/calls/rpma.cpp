// SPDX-License-Identifier: BSD-3-Clause
// librpma, ours or PMDK's: what a program declares about its memory.
#include "calls/following.hpp"
#include "memory/persistence/door.hpp"

struct rpma_peer_cfg;

FABRIC_CALL int rpma_peer_cfg_set_direct_write_to_pmem(rpma_peer_cfg* cfg, bool supported) {
    using Function = int(rpma_peer_cfg*, bool);
    static auto* const next =
        fabric::calls::following<Function>("rpma_peer_cfg_set_direct_write_to_pmem");
    const int result = next(cfg, supported);
    if (result == 0 && supported && fabric::memory::persistence::on()) {
        fabric::memory::persistence::declared_direct_write();
    }
    return result;
}
