// SPDX-License-Identifier: BSD-3-Clause
// A connection: what the data path needs, then what set-up and events need.
#pragma once

#include <atomic>
#include <cstdint>

#include "handles.hpp"
#include "link.hpp"
#include "object.hpp"
#include "public.hpp"

struct rpma_conn {
    /// Takes from link what the data path needs; makes the flush buffer where flushes are reads.
    /// RPMA_E_NOMEM, RPMA_E_PROVIDER.
    rpma::Status prepare(const rpma::Link& from);
    /// The event that a CM event stands for, or RPMA_E_NO_EVENT, RPMA_E_UNKNOWN.
    rpma::Status translate(const rdma_cm_event& cm_event, rpma_conn_event& out);

    ibv_qp* qp = nullptr;
    rpma::FlushBuffer flush_buffer = {};
    /// RPMA_MR_USAGE_FLUSH_TYPE_* bits of the flushes that the other side allows.
    std::atomic<int> allowed_flushes{RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY};
    bool native_flush = false;
    bool native_atomic_write = false;
    std::atomic<bool> closed_reported{false};
    rpma::Owned<rpma::Link> link;
};
