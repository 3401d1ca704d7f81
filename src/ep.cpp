// SPDX-License-Identifier: BSD-3-Clause
#include "ep.hpp"

#include <cerrno>

#include "address.hpp"
#include "api.hpp"
#include "cm_event.hpp"
#include "conn_req.hpp"

using rpma::Status;

namespace {

/// 0 lets the kernel take its own maximum.
constexpr int kBacklog = 0;

Status next_request(rpma_ep* ep, const rpma_conn_cfg* cfg, rpma::Owned<rpma_conn_req>& out) {
    rdma_cm_event* event = nullptr;
    const Status status = rpma::take_event(ep->events.get(), &event);
    if (!status.ok()) {
        return status;
    }
    if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
        const Status unexpected =
            Status::failure(RPMA_E_INVAL, "event %s (status %d) is no connection request",
                            rdma_event_str(event->event), event->status);
        (void)rpma::acknowledge(event);
        return unexpected;
    }
    return rpma_conn_req::open_incoming(ep->peer.get(), event, rpma_conn_cfg::settings_of(cfg),
                                        out);
}

}  // namespace

Status rpma_ep::try_address(rdma_addrinfo* result) {
    rdma_cm_id* new_id = nullptr;
    if (rdma_create_id(events.get(), &new_id, nullptr, RDMA_PS_TCP) != 0) {
        return Status::system(RPMA_E_PROVIDER, errno, "rdma_create_id failed");
    }
    rpma::CmId owned(new_id);
    if (rdma_bind_addr(new_id, result->ai_src_addr) != 0) {
        return Status::system(RPMA_E_PROVIDER, errno, "rdma_bind_addr failed");
    }
    if (rdma_listen(new_id, kBacklog) != 0) {
        return Status::system(RPMA_E_PROVIDER, errno, "rdma_listen failed");
    }
    id = std::move(owned);
    return {};
}

Status rpma_ep::open(rpma_peer* peer, const char* address, const char* port,
                     rpma::Owned<rpma_ep>& out) {
    rpma::Owned<rpma_ep> ep(rpma::create<rpma_ep>());
    if (ep == nullptr) {
        return Status::out_of_memory();
    }
    ep->peer = rpma::Ref<rpma_peer>(peer);
    errno = 0;
    ep->events = rpma::EventChannel(rdma_create_event_channel());
    if (!ep->events) {
        return rpma::explain_missing_device(
            Status::system(RPMA_E_PROVIDER, errno, "rdma_create_event_channel failed"));
    }
    const Status status =
        rpma::try_addresses(address, port, rpma::AddressUse::listen, [&](rdma_addrinfo* result) {
            Status tried = ep->try_address(result);
            if (!tried.ok()) {
                tried.append("; while listening on " RPMA_NAME ", port " RPMA_PORT, address, port);
            }
            return tried;
        });
    if (status.ok()) {
        out = std::move(ep);
    }
    return rpma::explain_missing_device(status);
}

Status rpma_ep::close() {
    Status status = id.close();
    status.keep_first(events.close());
    status.keep_first(peer.release());
    return status;
}

int rpma_ep_listen(struct rpma_peer* peer, const char* addr, const char* port,
                   struct rpma_ep** ep_ptr) {
    if (const int bad = rpma::refuse_null(
            {{"peer", peer}, {"addr", addr}, {"port", port}, {"ep_ptr", ep_ptr}})) {
        return bad;
    }
    rpma::Owned<rpma_ep> ep;
    const Status status = rpma_ep::open(peer, addr, port, ep);
    if (status.ok()) {
        rpma::log_line(rpma::Where::here(), rpma::Origin::setup, RPMA_LOG_LEVEL_NOTICE,
                       "listening on %s, port %s", addr, port);
        *ep_ptr = ep.release();
    }
    return rpma::finish(status);
}

int rpma_ep_shutdown(struct rpma_ep** ep_ptr) {
    if (const int bad = rpma::refuse_null({{"ep_ptr", ep_ptr}})) {
        return bad;
    }
    const rpma::Owned<rpma_ep> ep(std::exchange(*ep_ptr, nullptr));
    return ep == nullptr ? 0 : rpma::finish(ep->close());
}

int rpma_ep_get_fd(const struct rpma_ep* ep, int* fd) {
    if (const int bad = rpma::refuse_null({{"ep", ep}, {"fd", fd}})) {
        return bad;
    }
    *fd = ep->events->fd;
    return 0;
}

int rpma_ep_next_conn_req(struct rpma_ep* ep, const struct rpma_conn_cfg* cfg,
                          struct rpma_conn_req** req_ptr) {
    if (const int bad = rpma::refuse_null({{"ep", ep}, {"req_ptr", req_ptr}})) {
        return bad;
    }
    rpma::Owned<rpma_conn_req> req;
    const Status status = next_request(ep, cfg, req);
    if (status.ok()) {
        rpma::log_line(rpma::Where::here(), rpma::Origin::setup, RPMA_LOG_LEVEL_NOTICE,
                       "connection request taken");
        *req_ptr = req.release();
    }
    return rpma::finish(status);
}
