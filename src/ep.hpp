// SPDX-License-Identifier: BSD-3-Clause
// A listening endpoint.
#pragma once

#include "handles.hpp"
#include "object.hpp"
#include "peer.hpp"
#include "public.hpp"

struct rpma_ep {
    /// Fails with RPMA_E_NOMEM, RPMA_E_PROVIDER.
    static rpma::Status open(rpma_peer* peer, const char* address, const char* port,
                             rpma::Owned<rpma_ep>& out);
    rpma::Status close();

    rpma::Ref<rpma_peer> peer;
    rpma::EventChannel events;
    rpma::CmId id;

private:
    rpma::Status try_address(rdma_addrinfo* result);
};
