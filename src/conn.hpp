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

    /// Sets which flushes the other side allows: RPMA_MR_USAGE_FLUSH_TYPE_* bits.
    void allow_flushes(int usages);

    ibv_qp* qp = nullptr;
    /// A bit for each RPMA_FLUSH_TYPE_* that is allowed, and for those of them that are reads.
    std::atomic<unsigned> allowed_flushes{0};
    std::atomic<unsigned> read_flushes{0};
    /// The peer's flush buffer, with length 0.
    alignas(16) ibv_sge flush_buffer = {};
    ibv_qp* receiving_qp = nullptr;
    bool native_flush = false;
    bool native_atomic_write = false;
    std::atomic<bool> closed_reported{false};
    rpma::Owned<rpma::Link> link;
};
