// SPDX-License-Identifier: BSD-3-Clause
// Binding an id to a local address and port.
#pragma once

#include "cm/id.hpp"

namespace fabric::cm {

// Under the strand. 0, EINVAL (family, state), or what the host's TCP says: EADDRINUSE,
// EADDRNOTAVAIL, EACCES.
int bind_id(Id& id, const sockaddr& address);

}  // namespace fabric::cm
