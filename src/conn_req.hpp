// SPDX-License-Identifier: BSD-3-Clause
// A connection being prepared, outgoing or incoming.
#pragma once

#include "conn_cfg.hpp"
#include "link.hpp"
#include "object.hpp"
#include "public.hpp"

struct rpma_conn_req {
    /// Fails with RPMA_E_INVAL, RPMA_E_NOMEM, RPMA_E_PROVIDER.
    static rpma::Status open_outgoing(rpma_peer* peer, const char* address, const char* port,
                                      const rpma::ConnSettings& settings,
                                      rpma::Owned<rpma_conn_req>& out);
    /// From the event of a connect request, which is acknowledged. On failure the other side is
    /// rejected and the id is gone.
    static rpma::Status open_incoming(rpma_peer* peer, rdma_cm_event* event,
                                      const rpma::ConnSettings& settings,
                                      rpma::Owned<rpma_conn_req>& out);
    /// Connects or accepts; on failure link is still there, to be abandoned.
    rpma::Status connect(const rpma_conn_private_data* data, rpma_conn** out);
    /// Rejects (incoming) and destroys. The first failure.
    rpma::Status abandon();

    rpma::Owned<rpma::Link> link;
    bool incoming = false;
};
