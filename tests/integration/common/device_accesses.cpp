// SPDX-License-Identifier: BSD-3-Clause
#include "common/device_accesses.hpp"

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "common/check.hpp"

namespace it {

#if defined(__SANITIZE_THREAD__)

void order_device_accesses() {
    int count = 0;
    ibv_context** devices = rdma_get_devices(&count);
    if (devices == nullptr) {
        return;
    }
    static long long word = 0;
    for (int index = 0; index < count; ++index) {
        ibv_pd* pd = ibv_alloc_pd(devices[index]);
        CHECK(pd != nullptr);
        ibv_mr* mr = ibv_reg_mr(pd, &word, sizeof word, 0);
        CHECK(mr != nullptr);
        CHECK(ibv_dereg_mr(mr) == 0);
        CHECK(ibv_dealloc_pd(pd) == 0);
    }
    rdma_free_devices(devices);
}

#else

void order_device_accesses() {}

#endif

}  // namespace it
