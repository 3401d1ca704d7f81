// SPDX-License-Identifier: BSD-3-Clause
// The end of the active side's handshake.
#pragma once

#include "cm/id.hpp"

namespace fabric::cm {

void send_ready(Id& id);  // RTU

}  // namespace fabric::cm
