// SPDX-License-Identifier: BSD-3-Clause
// The state machine of a reliable-connected queue pair and the attributes each step must and may
// set (IBTA vol. 1, 10.3.1 and table 91; ibv_modify_qp(3)).
#pragma once

#include <infiniband/verbs.h>

namespace fabric::verbs {

// True if a queue pair may go from one state to the other with exactly these attributes named (enum
// ibv_qp_attr_mask).
bool transition_allowed(ibv_qp_state from, ibv_qp_state to, int mask);

}  // namespace fabric::verbs
