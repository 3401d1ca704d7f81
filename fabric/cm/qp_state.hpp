// SPDX-License-Identifier: BSD-3-Clause
// Moving an id's queue pair through its states with what the two sides agreed on. All under the
// strand; an id without a queue pair gives 0 and nothing happens.
#pragma once

#include "cm/id.hpp"

namespace fabric::cm {

// Fills the attributes that lead to attr.qp_state (INIT, RTR or RTS). 0; EINVAL in a state of the
// id that does not know them yet.
int fill_attributes(const Id& id, ibv_qp_attr& attr, int& mask);

int make_initial(Id& id, ibv_qp* qp);  // RESET to INIT, before it belongs to the id
int make_ready(Id& id);                // to INIT, RTR, RTS
int make_error(Id& id);
void attach_link(Id& id);  // from now on the queue pair uses the id's link
void cut_link(Id& id);     // the id's link has gone

}  // namespace fabric::cm
