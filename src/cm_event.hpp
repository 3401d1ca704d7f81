// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/rdma_cma.h>

#include "status.hpp"

namespace rpma {

/// Takes the next event. RPMA_E_NO_EVENT (with errno) where there is none yet or a signal came;
/// RPMA_E_PROVIDER otherwise.
Status take_event(rdma_event_channel* channel, rdma_cm_event** event);

/// Gives an event back, as every event must be. RPMA_E_PROVIDER.
Status acknowledge(rdma_cm_event* event);

}  // namespace rpma
