// SPDX-License-Identifier: BSD-3-Clause
#include "link.hpp"

#include <cerrno>

#include "address.hpp"
#include "err.hpp"
#include "native.hpp"

namespace rpma {

namespace {

constexpr std::uint32_t kMaxSge = 1;
/// The emulated atomic write is an inline write of this size.
constexpr std::uint32_t kMaxInlineData = 8;
/// 7 stands for "without end": a send waits until the other side posts a receive.
constexpr std::uint8_t kRetryCount = 7;

constexpr char kOtherSideMayBeGone[] =
    "; the other side may have given up: go on with another request";

rdma_conn_param connection_parameters(const rpma_conn_private_data* data) {
    rdma_conn_param parameters = {};
    parameters.private_data = data != nullptr ? data->ptr : nullptr;
    parameters.private_data_len = data != nullptr ? data->len : std::uint8_t{0};
    // The maxima make librdmacm take what the device can do.
    parameters.responder_resources = RDMA_MAX_RESP_RES;
    parameters.initiator_depth = RDMA_MAX_INIT_DEPTH;
    parameters.flow_control = 1;
    parameters.retry_count = kRetryCount;
    parameters.rnr_retry_count = kRetryCount;
    return parameters;
}

/// limit: room for private data on InfiniBand and RoCE; otherwise: what to say if it is not that.
Status connecting_failure(const char* call, int err, const rpma_conn_private_data* data, int limit,
                          const char* otherwise) {
    Status status = Status::system(RPMA_E_PROVIDER, err, "%s failed", call);
    if (data != nullptr && data->len > limit) {
        status.append("; private data of %d bytes were given, InfiniBand and RoCE take %d",
                      static_cast<int>(data->len), limit);
    } else {
        status.append("%s", otherwise);
    }
    return status;
}

ibv_cq* verbs_of(const Owned<rpma_cq>& queue) {
    return queue != nullptr ? queue->verbs : nullptr;
}

ibv_qp_init_attr_ex qp_attributes(const ConnSettings& settings, ibv_pd* pd) {
    ibv_qp_init_attr_ex attributes = {};
    attributes.cap.max_send_wr = settings.sq_size;
    attributes.cap.max_recv_wr = settings.rq_size;
    attributes.cap.max_send_sge = kMaxSge;
    attributes.cap.max_recv_sge = kMaxSge;
    attributes.cap.max_inline_data = kMaxInlineData;
    attributes.qp_type = IBV_QPT_RC;
    attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
    attributes.pd = pd;
    return attributes;
}

}  // namespace

Status Link::try_address(rdma_addrinfo* result, int timeout_ms) {
    rdma_cm_id* id = nullptr;
    if (rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP) != 0) {
        return Status::system(RPMA_E_PROVIDER, errno, "rdma_create_id failed");
    }
    CmId owned(id);
    if (rdma_resolve_addr(id, nullptr, result->ai_dst_addr, timeout_ms) != 0) {
        return Status::system(RPMA_E_PROVIDER, errno, "rdma_resolve_addr failed");
    }
    if (rdma_resolve_route(id, timeout_ms) != 0) {
        return Status::system(RPMA_E_PROVIDER, errno, "rdma_resolve_route failed");
    }
    id_ = std::move(owned);
    return {};
}

Status Link::resolve(const char* address, const char* port, int timeout_ms) {
    Status status = try_addresses(address, port, AddressUse::connect, [&](rdma_addrinfo* result) {
        Status tried = try_address(result, timeout_ms);
        if (!tried.ok()) {
            tried.append("; while resolving " RPMA_NAME ", port " RPMA_PORT
                         ", with a time limit of %d ms",
                         address, port, timeout_ms);
        }
        return tried;
    });
    return explain_missing_device(status);
}

Status Link::move_to_own_channel() {
    errno = 0;
    events_ = EventChannel(rdma_create_event_channel());
    if (!events_) {
        return Status::system(RPMA_E_PROVIDER, errno, "rdma_create_event_channel failed");
    }
    if (rdma_migrate_id(id_.get(), events_.get()) != 0) {
        return Status::system(RPMA_E_PROVIDER, errno, "rdma_migrate_id failed");
    }
    return {};
}

Status Link::make_cqs(const ConnSettings& settings) {
    ibv_context* const context = id_->verbs;
    const bool srq_has_rcq = srq_ && srq_->rcq != nullptr;
    if (settings.shared_channel && srq_has_rcq) {
        return Status::failure(
            RPMA_E_INVAL,
            "a shared completion channel cannot be combined with a shared RQ that "
            "has a receive CQ of its own");
    }
    if (settings.shared_channel) {
        const Status status = open_comp_channel(context, shared_channel_);
        if (!status.ok()) {
            return status;
        }
    }
    Status status = rpma_cq::open(context, settings.cq_size, shared_channel_.get(), cq_);
    if (status.ok() && settings.rcq_size > 0 && !srq_has_rcq) {
        status = rpma_cq::open(context, settings.rcq_size, shared_channel_.get(), rcq_);
    }
    return status;
}

Status Link::make_qp(const ConnSettings& settings) {
    const Capabilities& can = peer_->capabilities();
    ibv_qp_init_attr_ex attributes = qp_attributes(settings, peer_->pd());
    ibv_cq* const shared_rcq = srq_ ? verbs_of(srq_->rcq) : nullptr;
    ibv_cq* const own_rcq = verbs_of(rcq_);
    attributes.srq = srq_ ? srq_->srq.get() : nullptr;
    attributes.send_cq = verbs_of(cq_);
    attributes.recv_cq = own_rcq != nullptr ? own_rcq : attributes.send_cq;
    if (shared_rcq != nullptr) {
        attributes.recv_cq = shared_rcq;
    }
    attributes.send_ops_flags =
        (can.atomic_write ? kAtomicWriteSendOp : 0) | (can.flush ? kFlushSendOps : 0);
    // Many providers have no extended QP creation, so it is asked for only where it is needed.
    bool native = attributes.send_ops_flags != 0;
    if (native) {
        attributes.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    }
    int result = rdma_create_qp_ex(id_.get(), &attributes);
    if (result != 0 && native) {
        native = false;
        attributes.send_ops_flags = 0;
        attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
        result = rdma_create_qp_ex(id_.get(), &attributes);
    }
    if (result != 0) {
        Status status = Status::system(
            RPMA_E_PROVIDER, errno, "rdma_create_qp_ex with %u send and %u receive entries failed",
            settings.sq_size, settings.rq_size);
        if (id_->verbs != peer_->context()) {
            status.append(
                "; the address belongs to another RDMA device than the peer was made from");
        } else {
            explain_refused_queue(status);
        }
        return status;
    }
    qp_ = Qp(id_.get());
    native_flush_ = native && can.flush;
    native_atomic_write_ = native && can.atomic_write;
    return {};
}

Status Link::prepare(const ConnSettings& settings) {
    srq_ = settings.srq;
    Status status = move_to_own_channel();
    if (status.ok()) {
        status = make_cqs(settings);
    }
    if (status.ok()) {
        status = make_qp(settings);
    }
    return status;
}

Status Link::connect(const rpma_conn_private_data* data) {
    constexpr int kRoom = 56;
    rdma_conn_param parameters = connection_parameters(data);
    return rdma_connect(id_.get(), &parameters) == 0
               ? Status()
               : connecting_failure("rdma_connect", errno, data, kRoom,
                                    "; make a new request to try again");
}

Status Link::accept(const rpma_conn_private_data* data) {
    constexpr int kRoom = 196;
    rdma_conn_param parameters = connection_parameters(data);
    return rdma_accept(id_.get(), &parameters) == 0
               ? Status()
               : connecting_failure("rdma_accept", errno, data, kRoom, kOtherSideMayBeGone);
}

Status Link::reject() {
    if (rdma_reject(id_.get(), nullptr, 0) == 0) {
        return {};
    }
    Status status = Status::system(RPMA_E_PROVIDER, errno, "rdma_reject failed");
    status.append("%s", kOtherSideMayBeGone);
    return status;
}

Status Link::close() {
    Status status = qp_.close();
    if (rcq_ != nullptr) {
        status.keep_first(rcq_->close());
    }
    if (cq_ != nullptr) {
        status.keep_first(cq_->close());
    }
    status.keep_first(id_.close());
    status.keep_first(shared_channel_.close());
    status.keep_first(events_.close());
    status.keep_first(srq_.release());
    status.keep_first(peer_.release());
    return status;
}

}  // namespace rpma
