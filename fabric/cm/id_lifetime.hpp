// SPDX-License-Identifier: BSD-3-Clause
// Making ids.
#pragma once

#include "cm/id.hpp"

namespace fabric::cm {

// On a program's channel, or synchronous if that is NULL. EINVAL, or errno of making a channel.
int create_id(rdma_event_channel* channel, rdma_port_space space, ibv_qp_type type,
              std::shared_ptr<Id>* out);

}  // namespace fabric::cm
