// SPDX-License-Identifier: BSD-3-Clause
// A machine without an RDMA device: looking one up fails at once, with a provider error and a log
// line that names the cause. One process: the client role does nothing.
#include <algorithm>

#include "common/log_capture.hpp"
#include "common/session.hpp"

namespace {

bool machine_has_device() {
    int count = 0;
    ibv_device** devices = ibv_get_device_list(&count);
    if (devices != nullptr) {
        ibv_free_device_list(devices);
    }
    return count > 0;
}

}  // namespace

void server(it::Role&) {
    if (machine_has_device()) {
        it::skip("this machine has an RDMA device");
    }
    it::capture_log();
    for (const char* address : {"127.0.0.1", "::1", "localhost", "192.0.2.1"}) {
        for (const auto side : {RPMA_UTIL_IBV_CONTEXT_LOCAL, RPMA_UTIL_IBV_CONTEXT_REMOTE}) {
            it::logged().clear();
            auto* untouched = reinterpret_cast<ibv_context*>(&it::logged());
            ibv_context* device = untouched;
            CHECK_CODE(rpma_utils_get_ibv_context(address, side, &device), RPMA_E_PROVIDER);
            CHECK(device == untouched);
            it::expect_one_error(
                {address, "no RDMA device", "rpma-fabric run --", "Soft-RoCE", "adapter"});
            CHECK_EQ(std::count(it::logged().front().begin(), it::logged().front().end(), '\n'), 1);
        }
    }
}

void client(it::Role&) {}
