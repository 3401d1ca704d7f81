// SPDX-License-Identifier: BSD-3-Clause
// What a device can do, asked for once.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "status.hpp"

namespace rpma {

struct Capabilities {
    bool odp;           ///< on-demand paging, for RDMA read and write on RC
    bool atomic_write;  ///< native atomic write, known to device and headers
    bool flush;         ///< native flush of both kinds, known to device and headers
    bool iwarp;         ///< the transport is iWARP
};

/// Fails with RPMA_E_PROVIDER.
Status query_capabilities(ibv_context* context, Capabilities& out);

}  // namespace rpma
