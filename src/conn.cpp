// SPDX-License-Identifier: BSD-3-Clause
// Connections except for the data path: events, getters, closing.
#include "conn.hpp"

#include <cerrno>

#include "api.hpp"
#include "cm_event.hpp"
#include "mr.hpp"
#include "peer_cfg.hpp"

using rpma::Origin;
using rpma::Status;
using rpma::Where;

namespace {

/// The status of an event is an errno value, or the reason of a rejection (a positive number on
/// InfiniBand and RoCE: 8 nobody listens, 28 refused by the program).
void log_event(const rdma_cm_event& cm_event, rpma_conn_event event, const Where& where) {
    rpma::log_line(where, Origin::setup, RPMA_LOG_LEVEL_NOTICE, "%s (%s, status %d%s)",
                   rpma_utils_conn_event_2str(event), rdma_event_str(cm_event.event),
                   cm_event.status,
                   event == RPMA_CONN_REJECTED && cm_event.status == 8 ? ": nobody listens" : "");
}

Status next_event(rpma_conn* conn, rpma_conn_event* event, const Where& where) {
    rdma_cm_event* cm_event = nullptr;
    Status status = rpma::take_event(conn->link->events(), &cm_event);
    if (!status.ok()) {
        return status;
    }
    rpma_conn_event translated = RPMA_CONN_UNDEFINED;
    status = conn->translate(*cm_event, translated);
    if (status.ok()) {
        log_event(*cm_event, translated, where);
    }
    const Status acknowledged = rpma::acknowledge(cm_event);
    if (!acknowledged.ok()) {
        return acknowledged;
    }
    if (status.ok()) {
        *event = translated;
    }
    return status;
}

/// The queue of conn that source is, or NULL.
rpma_cq* queue_of(const rpma_conn* conn, const ibv_cq* source) {
    for (rpma_cq* queue : {conn->link->cq(), conn->link->rcq()}) {
        if (queue != nullptr && queue->verbs == source) {
            return queue;
        }
    }
    return nullptr;
}

int wait_for_either(rpma_conn* conn, rpma_cq** cq, bool* is_rcq, const Where& where) {
    ibv_cq* source = nullptr;
    if (const int none = rpma::take_cq_event(conn->link->shared_channel(), source, where)) {
        return none;
    }
    rpma_cq* const queue = queue_of(conn, source);
    if (queue == nullptr) {
        return rpma::finish(
            Status::failure(RPMA_E_UNKNOWN, "ibv_get_cq_event: a CQ that is not the connection's"),
            where, Origin::data_path);
    }
    if (is_rcq != nullptr) {
        *is_rcq = queue == conn->link->rcq();
    }
    const Status status = queue->arm();
    *cq = status.ok() ? queue : nullptr;
    return rpma::finish(status, where, Origin::data_path);
}

Status not_shared() {
    return Status::failure(RPMA_E_NOT_SHARED_CHNL,
                           "the completion channel is not shared: use rpma_cq_wait() and "
                           "rpma_cq_get_fd(), or rpma_conn_cfg_set_compl_channel()");
}

}  // namespace

Status rpma_conn::prepare(const rpma::Link& from) {
    qp = from.qp();
    receiving_qp = from.receiving_qp();
    native_flush = from.has_native_flush();
    native_atomic_write = from.has_native_atomic_write();
    allow_flushes(RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
    if (native_flush) {
        return {};
    }
    rpma::FlushBuffer buffer = {};
    const Status status = from.peer()->flush_buffer(buffer);
    flush_buffer = {buffer.address, 0, buffer.lkey};
    return status;
}

void rpma_conn::allow_flushes(int usages) {
    const unsigned types = rpma::flush_types_of(usages);
    allowed_flushes.store(types, std::memory_order_relaxed);
    read_flushes.store(native_flush ? 0 : types, std::memory_order_relaxed);
}

Status rpma_conn::translate(const rdma_cm_event& cm_event, rpma_conn_event& out) {
    switch (cm_event.event) {
        case RDMA_CM_EVENT_ESTABLISHED:
            link->private_data().store(cm_event.param.conn.private_data,
                                       cm_event.param.conn.private_data_len);
            out = RPMA_CONN_ESTABLISHED;
            return {};
        case RDMA_CM_EVENT_CONNECT_ERROR:
        case RDMA_CM_EVENT_DEVICE_REMOVAL:
            out = RPMA_CONN_LOST;
            return {};
        case RDMA_CM_EVENT_DISCONNECTED:
        case RDMA_CM_EVENT_TIMEWAIT_EXIT:
            // The latter comes behind the former on some transports; closing is reported once.
            if (closed_reported.exchange(true, std::memory_order_relaxed)) {
                return Status::system(RPMA_E_NO_EVENT, EAGAIN, "already closed");
            }
            out = RPMA_CONN_CLOSED;
            return {};
        case RDMA_CM_EVENT_REJECTED:
            out = RPMA_CONN_REJECTED;
            return {};
        case RDMA_CM_EVENT_UNREACHABLE:
            out = RPMA_CONN_UNREACHABLE;
            return {};
        default:
            return Status::failure(RPMA_E_UNKNOWN, "event %s (status %d) has no counterpart",
                                   rdma_event_str(cm_event.event), cm_event.status);
    }
}

int rpma_conn_get_event_fd(const struct rpma_conn* conn, int* fd) {
    if (const int bad = rpma::refuse_null({{"conn", conn}, {"fd", fd}})) {
        return bad;
    }
    *fd = conn->link->events()->fd;
    return 0;
}

int rpma_conn_next_event(struct rpma_conn* conn, enum rpma_conn_event* event) {
    if (const int bad = rpma::refuse_null({{"conn", conn}, {"event", event}})) {
        return bad;
    }
    return rpma::finish(next_event(conn, event, Where::here()));
}

int rpma_conn_get_private_data(const struct rpma_conn* conn, struct rpma_conn_private_data* pdata) {
    if (const int bad = rpma::refuse_null({{"conn", conn}, {"pdata", pdata}})) {
        return bad;
    }
    *pdata = conn->link->private_data().load();
    return 0;
}

int rpma_conn_apply_remote_peer_cfg(struct rpma_conn* conn, const struct rpma_peer_cfg* pcfg) {
    if (const int bad = rpma::refuse_null({{"conn", conn}, {"pcfg", pcfg}})) {
        return bad;
    }
    const bool direct = pcfg->direct_write_to_pmem.load(std::memory_order_relaxed);
    conn->allow_flushes(RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
                        (direct ? RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT : 0));
    return 0;
}

int rpma_conn_get_qp_num(const struct rpma_conn* conn, uint32_t* qp_num) {
    if (const int bad = rpma::refuse_null({{"conn", conn}, {"qp_num", qp_num}})) {
        return bad;
    }
    *qp_num = conn->qp->qp_num;
    return 0;
}

int rpma_conn_get_cq(const struct rpma_conn* conn, struct rpma_cq** cq_ptr) {
    if (const int bad = rpma::refuse_null({{"conn", conn}, {"cq_ptr", cq_ptr}})) {
        return bad;
    }
    *cq_ptr = conn->link->cq();
    return 0;
}

int rpma_conn_get_rcq(const struct rpma_conn* conn, struct rpma_cq** rcq_ptr) {
    if (const int bad = rpma::refuse_null({{"conn", conn}, {"rcq_ptr", rcq_ptr}})) {
        return bad;
    }
    *rcq_ptr = conn->link->rcq();
    return 0;
}

int rpma_conn_disconnect(struct rpma_conn* conn) {
    if (const int bad = rpma::refuse_null({{"conn", conn}})) {
        return bad;
    }
    if (rdma_disconnect(conn->link->id()) != 0) {
        Status status = Status::system(RPMA_E_PROVIDER, errno, "rdma_disconnect failed");
        status.append("; delete the connection instead");
        return rpma::finish(status);
    }
    rpma::log_line(Where::here(), Origin::setup, RPMA_LOG_LEVEL_NOTICE, "disconnecting");
    return 0;
}

int rpma_conn_delete(struct rpma_conn** conn_ptr) {
    if (const int bad = rpma::refuse_null({{"conn_ptr", conn_ptr}})) {
        return bad;
    }
    const rpma::Owned<rpma_conn> conn(std::exchange(*conn_ptr, nullptr));
    return conn == nullptr ? 0 : rpma::finish(conn->link->close());
}

int rpma_conn_get_compl_fd(const struct rpma_conn* conn, int* fd) {
    if (const int bad = rpma::refuse_null({{"conn", conn}, {"fd", fd}})) {
        return bad;
    }
    if (conn->link->shared_channel() == nullptr) {
        return rpma::finish(not_shared());
    }
    *fd = conn->link->shared_channel()->fd;
    return 0;
}

int rpma_conn_wait(struct rpma_conn* conn, int /*flags*/, struct rpma_cq** cq, bool* is_rcq) {
    const Where where = Where::here();
    if (const int bad = rpma::refuse_null({{"conn", conn}, {"cq", cq}}, where, Origin::data_path)) {
        return bad;
    }
    if (conn->link->shared_channel() == nullptr) {
        return rpma::finish(not_shared(), where, Origin::data_path);
    }
    return wait_for_either(conn, cq, is_rcq, where);
}
