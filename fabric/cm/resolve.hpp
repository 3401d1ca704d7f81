// SPDX-License-Identifier: BSD-3-Clause
// rdma_resolve_addr and rdma_resolve_route.
#pragma once

#include "cm/id.hpp"

namespace fabric::cm {

// `source` may be nullptr. Tells ADDR_RESOLVED. 0 or an errno; the strand must not be taken.
int resolve_address(const std::shared_ptr<Id>& id, const sockaddr* source,
                    const sockaddr& destination);
// Tells ROUTE_RESOLVED.
int resolve_route(const std::shared_ptr<Id>& id);

}  // namespace fabric::cm
