// SPDX-License-Identifier: BSD-3-Clause
#include "cm_event.hpp"

#include <cerrno>

#include "err.hpp"
#include "public.hpp"

namespace rpma {

Status take_event(rdma_event_channel* channel, rdma_cm_event** event) {
    if (rdma_get_cm_event(channel, event) == 0) {
        return {};
    }
    const int err = errno;
    const int code = means_nothing_yet(err) ? RPMA_E_NO_EVENT : RPMA_E_PROVIDER;
    return Status::system(code, err, "rdma_get_cm_event failed");
}

Status acknowledge(rdma_cm_event* event) {
    return rdma_ack_cm_event(event) == 0
               ? Status()
               : Status::system(RPMA_E_PROVIDER, errno, "rdma_ack_cm_event failed");
}

}  // namespace rpma
