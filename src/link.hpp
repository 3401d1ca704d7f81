// SPDX-License-Identifier: BSD-3-Clause
// What a request and the connection made from it have in common, and hand on as a whole: the CM id
// on its own event channel, the queues, the private data.
#pragma once

#include "conn_cfg.hpp"
#include "cq.hpp"
#include "handles.hpp"
#include "no_receives.hpp"
#include "object.hpp"
#include "peer.hpp"
#include "private_data.hpp"

namespace rpma {

class Link {
public:
    explicit Link(rpma_peer* peer) : peer_(peer) {}

    /// Resolves address and route. RPMA_E_PROVIDER.
    Status resolve(const char* address, const char* port, int timeout_ms);
    /// Takes over the id of an incoming request.
    void adopt(rdma_cm_id* id) { id_ = CmId(id); }
    /// Gives the id an event channel of its own, then makes CQs and QP. RPMA_E_INVAL,
    /// RPMA_E_NOMEM, RPMA_E_PROVIDER.
    Status prepare(const ConnSettings& settings);
    /// Connects or accepts. RPMA_E_PROVIDER.
    Status connect(const rpma_conn_private_data* data);
    Status accept(const rpma_conn_private_data* data);
    /// Tells the other side of an incoming request that it is refused. RPMA_E_PROVIDER.
    Status reject();
    /// Destroys everything, goes on after a failure, returns the first one.
    Status close();

    [[nodiscard]] ibv_qp* qp() const { return id_->qp; }
    /// What receives of this connection are posted to.
    [[nodiscard]] ibv_qp* receiving_qp() const { return srq_ ? no_receives() : qp(); }
    [[nodiscard]] rdma_cm_id* id() const { return id_.get(); }
    [[nodiscard]] rdma_event_channel* events() const { return events_.get(); }
    [[nodiscard]] rpma_cq* cq() const { return cq_.get(); }
    [[nodiscard]] rpma_cq* rcq() const { return rcq_.get(); }
    /// The channel both CQs use, or NULL.
    [[nodiscard]] ibv_comp_channel* shared_channel() const { return shared_channel_.get(); }
    [[nodiscard]] PrivateData& private_data() { return private_data_; }
    [[nodiscard]] const PrivateData& private_data() const { return private_data_; }
    [[nodiscard]] rpma_peer* peer() const { return peer_.get(); }
    [[nodiscard]] bool has_native_flush() const { return native_flush_; }
    [[nodiscard]] bool has_native_atomic_write() const { return native_atomic_write_; }

private:
    Status move_to_own_channel();
    Status make_cqs(const ConnSettings& settings);
    Status make_qp(const ConnSettings& settings);
    Status try_address(rdma_addrinfo* result, int timeout_ms);

    // In the order of dependence: what comes later is destroyed first.
    Ref<rpma_peer> peer_;
    Ref<rpma_srq> srq_;
    EventChannel events_;
    CompChannel shared_channel_;
    CmId id_;
    Owned<rpma_cq> cq_;
    Owned<rpma_cq> rcq_;
    Qp qp_;
    bool native_flush_ = false;
    bool native_atomic_write_ = false;
    PrivateData private_data_;
};

}  // namespace rpma
