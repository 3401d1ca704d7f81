// SPDX-License-Identifier: BSD-3-Clause
#include "conn_req.hpp"

#include "api.hpp"
#include "cm_event.hpp"
#include "conn.hpp"

using rpma::Status;

namespace {

/// Request and link, or RPMA_E_NOMEM.
Status allocate(rpma_peer* peer, rpma::Owned<rpma_conn_req>& out) {
    rpma::Owned<rpma_conn_req> req(rpma::create<rpma_conn_req>());
    if (req == nullptr) {
        return Status::out_of_memory();
    }
    req->link.reset(rpma::create<rpma::Link>(peer));
    if (req->link == nullptr) {
        return Status::out_of_memory();
    }
    out = std::move(req);
    return {};
}

/// For an incoming id that no request owns.
void turn_away(rdma_cm_id* id) {
    (void)rdma_reject(id, nullptr, 0);
    (void)rdma_destroy_id(id);
}

Status check_private_data(const rpma_conn_private_data* data) {
    if (data != nullptr && (data->ptr == nullptr || data->len == 0)) {
        return Status::failure(RPMA_E_INVAL,
                               "private data need an address and a length (NULL for pdata: none)");
    }
    return {};
}

}  // namespace

Status rpma_conn_req::open_outgoing(rpma_peer* peer, const char* address, const char* port,
                                    const rpma::ConnSettings& settings,
                                    rpma::Owned<rpma_conn_req>& out) {
    rpma::Owned<rpma_conn_req> req;
    Status status = allocate(peer, req);
    if (status.ok()) {
        status = req->link->resolve(address, port, settings.timeout_ms);
    }
    if (status.ok()) {
        status = req->link->prepare(settings);
    }
    if (status.ok()) {
        out = std::move(req);
    }
    return status;
}

Status rpma_conn_req::open_incoming(rpma_peer* peer, rdma_cm_event* event,
                                    const rpma::ConnSettings& settings,
                                    rpma::Owned<rpma_conn_req>& out) {
    rdma_cm_id* const id = event->id;
    rpma::Owned<rpma_conn_req> req;
    Status status = allocate(peer, req);
    if (!status.ok()) {
        (void)rpma::acknowledge(event);
        turn_away(id);
        return status;
    }
    req->incoming = true;
    req->link->adopt(id);
    req->link->private_data().store(event->param.conn.private_data,
                                    event->param.conn.private_data_len);
    status = rpma::acknowledge(event);
    if (status.ok()) {
        status = req->link->prepare(settings);
    }
    if (!status.ok()) {
        (void)req->abandon();
        return status;
    }
    out = std::move(req);
    return {};
}

Status rpma_conn_req::connect(const rpma_conn_private_data* data, rpma_conn** out) {
    // Everything that can fail comes before the other side is told anything.
    rpma::Owned<rpma_conn> conn(rpma::create<rpma_conn>());
    if (conn == nullptr) {
        return Status::out_of_memory();
    }
    Status status = conn->prepare(*link);
    if (status.ok()) {
        status = incoming ? link->accept(data) : link->connect(data);
    }
    if (status.ok()) {
        conn->link = std::move(link);
        *out = conn.release();
    }
    return status;
}

Status rpma_conn_req::abandon() {
    Status status = incoming ? link->reject() : Status();
    status.keep_first(link->close());
    return status;
}

int rpma_conn_req_new(struct rpma_peer* peer, const char* addr, const char* port,
                      const struct rpma_conn_cfg* cfg, struct rpma_conn_req** req_ptr) {
    if (const int bad = rpma::refuse_null(
            {{"peer", peer}, {"addr", addr}, {"port", port}, {"req_ptr", req_ptr}})) {
        return bad;
    }
    rpma::Owned<rpma_conn_req> req;
    const Status status =
        rpma_conn_req::open_outgoing(peer, addr, port, rpma_conn_cfg::settings_of(cfg), req);
    if (status.ok()) {
        rpma::log_line(rpma::Where::here(), rpma::Origin::setup, RPMA_LOG_LEVEL_NOTICE,
                       "request made for %s, port %s", addr, port);
        *req_ptr = req.release();
    }
    return rpma::finish(status);
}

int rpma_conn_req_delete(struct rpma_conn_req** req_ptr) {
    if (const int bad = rpma::refuse_null({{"req_ptr", req_ptr}})) {
        return bad;
    }
    const rpma::Owned<rpma_conn_req> req(std::exchange(*req_ptr, nullptr));
    return req == nullptr ? 0 : rpma::finish(req->abandon());
}

int rpma_conn_req_connect(struct rpma_conn_req** req_ptr,
                          const struct rpma_conn_private_data* pdata, struct rpma_conn** conn_ptr) {
    if (req_ptr == nullptr || *req_ptr == nullptr) {
        return rpma::finish(
            Status::failure(RPMA_E_INVAL, "req_ptr must lead to a request, but is or holds NULL"));
    }
    // From here on the request is consumed, whatever happens.
    const rpma::Owned<rpma_conn_req> req(std::exchange(*req_ptr, nullptr));
    Status status = conn_ptr != nullptr
                        ? check_private_data(pdata)
                        : Status::failure(RPMA_E_INVAL, "conn_ptr must not be NULL");
    if (status.ok()) {
        status = req->connect(pdata, conn_ptr);
    }
    if (!status.ok()) {
        (void)req->abandon();
    }
    return rpma::finish(status);
}

int rpma_conn_req_get_private_data(const struct rpma_conn_req* req,
                                   struct rpma_conn_private_data* pdata) {
    if (const int bad = rpma::refuse_null({{"req", req}, {"pdata", pdata}})) {
        return bad;
    }
    *pdata = req->link->private_data().load();
    return 0;
}
