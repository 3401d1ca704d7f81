// SPDX-License-Identifier: BSD-3-Clause
// A receive queue shared by connections, with its own receive CQ if asked for.
#pragma once

#include "cq.hpp"
#include "handles.hpp"
#include "object.hpp"
#include "peer.hpp"
#include "public.hpp"
#include "srq_cfg.hpp"

struct rpma_srq : rpma::RefCounted {
    /// Fails with RPMA_E_NOMEM, RPMA_E_PROVIDER.
    static rpma::Status open(rpma_peer* peer, const rpma_srq_cfg& cfg, rpma::Owned<rpma_srq>& out);
    /// For unref().
    rpma::Status close();

    rpma::Ref<rpma_peer> peer;
    rpma::Srq srq;
    rpma::Owned<rpma_cq> rcq;
};
