// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong behind the arguments: each cause of each documented code.
#include <cerrno>

#include "cases.hpp"

namespace entry_points {

namespace {

using fake::world;

constexpr int kAlways = RPMA_F_COMPLETION_ALWAYS;
constexpr auto kLocal = RPMA_UTIL_IBV_CONTEXT_LOCAL;
constexpr auto kVisible = RPMA_FLUSH_TYPE_VISIBILITY;
constexpr auto kPersistent = RPMA_FLUSH_TYPE_PERSISTENT;
const char kEight[8] = {};
char byte = 0;
const rpma_conn_private_data kNoLength = {&byte, 0};
const rpma_conn_private_data kNoPointer = {nullptr, 4};
/// Descriptors that no honest peer makes.
const auto kNoUsage = harness::descriptor(0x1000, 64, 7, 0);
const auto kNoSize = harness::descriptor(0x1000, 0, 7, 8);
const auto kNoEnd = harness::descriptor(0xfffffffffffff000, 0x1001, 7, 8);

using Prepare = std::function<void(Objects&, Doomed&)>;

/// The next call of name fails.
Prepare fault(const char* name, int err) {
    return [=](Objects&, Doomed&) { world.fail(name, 1, err); };
}

Prepare out_of_memory(int nth = 1) {
    return [=](Objects&, Doomed&) { harness::fail_allocation(nth); };
}

Prepare post_result(int err) {
    return [=](Objects&, Doomed&) { world.post_result = err; };
}

Prepare poll_result(int result) {
    return [=](Objects&, Doomed&) { world.poll_result = result; };
}

void nothing(Objects& /*objects*/, Doomed& /*doomed*/) {}

/// First one, then the other.
Prepare both(Prepare first, Prepare second) {
    return [=](Objects& objects, Doomed& doomed) {
        first(objects, doomed);
        second(objects, doomed);
    };
}

void make_peer(Objects& /*objects*/, Doomed& doomed) {
    doomed.peer = harness::make_peer();
}

void make_region(Objects& objects, Doomed& doomed) {
    doomed.local = harness::make_region(objects.peer, objects.memory, 64, 1);
}

void make_srq(Objects& objects, Doomed& doomed) {
    EXPECT_OK(rpma_srq_new(objects.peer, nullptr, &doomed.srq));
}

/// A configuration that is the last user of a shared RQ.
void make_last_user(Objects& objects, Doomed& doomed) {
    make_srq(objects, doomed);
    EXPECT_OK(rpma_conn_cfg_new(&doomed.cfg));
    EXPECT_OK(rpma_conn_cfg_set_srq(doomed.cfg, doomed.srq));
    EXPECT_OK(rpma_srq_delete(&doomed.srq));
}

void make_endpoint(Objects& objects, Doomed& doomed) {
    EXPECT_OK(rpma_ep_listen(objects.peer, "192.0.2.1", "7205", &doomed.ep));
}

void make_outgoing(Objects& objects, Doomed& doomed) {
    doomed.req = harness::make_request(objects.peer);
}

void arrive(Objects& /*objects*/, Doomed& /*doomed*/) {
    fake::arrive();
}

void make_incoming(Objects& objects, Doomed& doomed) {
    fake::arrive();
    EXPECT_OK(rpma_ep_next_conn_req(objects.ep, nullptr, &doomed.req));
}

/// A request of a peer that has no flush buffer yet.
void make_first_outgoing(Objects& /*objects*/, Doomed& doomed) {
    rpma_peer* peer = harness::make_peer();
    doomed.req = harness::make_request(peer);
    EXPECT_OK(rpma_peer_delete(&peer));
}

void make_connection(Objects& objects, Doomed& doomed) {
    doomed.conn = harness::make_connection(objects.peer);
}

void make_shared_connection(Objects& objects, Doomed& doomed) {
    doomed.conn = harness::make_connection(objects.peer, objects.shared_cfg);
}

void strange_event_at_the_endpoint(Objects& objects, Doomed& /*doomed*/) {
    fake::push_event(objects.listener, RDMA_CM_EVENT_ADDR_CHANGE);
}

Prepare event_of_connection(rdma_cm_event_type type) {
    return [=](Objects& objects, Doomed&) { fake::push_event(objects.conn_id, type); };
}

void completion_event(Objects& objects, Doomed& /*doomed*/) {
    fake::push_cq_event(objects.verbs_cq);
}

void shared_completion_event(Objects& objects, Doomed& doomed) {
    doomed.cq = harness::untouched<rpma_cq>();
    fake::push_cq_event(objects.shared_verbs_cq);
}

/// The channel of one connection gives the queue of another.
void foreign_completion_event(Objects& objects, Doomed& /*doomed*/) {
    static_cast<fake::CompChannel*>(objects.shared_verbs_cq->channel)
        ->events.push_back(objects.verbs_cq);
}

void wildcard_without_device(Objects& /*objects*/, Doomed& /*doomed*/) {
    world.wildcard = true;
    world.fail("rdma_get_devices", 1, ENODEV);
}

}  // namespace

#define INVAL(name, part, prepare, ...) \
    { #name, RPMA_E_INVAL, part, prepare, RPMA_CALL(name, __VA_ARGS__) }
#define NOMEM(name, prepare, ...) \
    { #name, RPMA_E_NOMEM, "out of memory", prepare, RPMA_CALL(name, __VA_ARGS__) }
#define PROVIDER(name, call, prepare, ...) \
    { #name, RPMA_E_PROVIDER, call, prepare, RPMA_CALL(name, __VA_ARGS__) }
#define FAILS(name, code, part, prepare, ...) \
    { #name, code, part, prepare, RPMA_CALL(name, __VA_ARGS__) }
/// A full queue is told at level debug only.
#define FULL(name, ...) \
    { #name, RPMA_E_AGAIN, nullptr, post_result(ENOMEM), RPMA_CALL(name, __VA_ARGS__) }
#define DEAD(name, ...) \
    { #name, RPMA_E_PROVIDER, "EINVAL", post_result(EINVAL), RPMA_CALL(name, __VA_ARGS__) }

const std::vector<Case> kFailures = {
    FAILS(rpma_utils_get_ibv_context, RPMA_E_NOMEM, "ENOMEM", fault("rdma_getaddrinfo", ENOMEM),
          "192.0.2.1", kLocal, &x.context),
    PROVIDER(rpma_utils_get_ibv_context, "rdma_getaddrinfo", fault("rdma_getaddrinfo", EIO),
             "192.0.2.1", kLocal, &x.context),
    PROVIDER(rpma_utils_get_ibv_context, "rdma_create_id", fault("rdma_create_id", EIO),
             "192.0.2.1", kLocal, &x.context),
    PROVIDER(rpma_utils_get_ibv_context, "rdma_bind_addr", fault("rdma_bind_addr", EIO),
             "192.0.2.1", kLocal, &x.context),
    PROVIDER(rpma_utils_get_ibv_context, "rdma_resolve_addr", fault("rdma_resolve_addr", EIO),
             "192.0.2.1", RPMA_UTIL_IBV_CONTEXT_REMOTE, &x.context),
    PROVIDER(rpma_utils_get_ibv_context, "rdma_get_devices", wildcard_without_device, "0.0.0.0",
             kLocal, &x.context),
    PROVIDER(rpma_utils_ibv_context_is_odp_capable, "ibv_query_device_ex",
             fault("query_device_ex", EIO), fake::context(), &x.number),
    NOMEM(rpma_peer_cfg_new, out_of_memory(), &x.pcfg),
    NOMEM(rpma_peer_cfg_from_descriptor, out_of_memory(), x.bytes, 1, &x.pcfg),
    NOMEM(rpma_peer_new, out_of_memory(), fake::context(), &x.peer),
    FAILS(rpma_peer_new, RPMA_E_NOMEM, "ENOMEM", fault("ibv_alloc_pd", ENOMEM), fake::context(),
          &x.peer),
    PROVIDER(rpma_peer_new, "ibv_query_device_ex", fault("query_device_ex", EIO), fake::context(),
             &x.peer),
    PROVIDER(rpma_peer_new, "ibv_alloc_pd", fault("ibv_alloc_pd", EIO), fake::context(), &x.peer),
    FAILS(rpma_peer_new, RPMA_E_UNKNOWN, "no known reason", fault("ibv_alloc_pd", 0),
          fake::context(), &x.peer),
    PROVIDER(rpma_peer_delete, "ibv_dealloc_pd", both(make_peer, fault("ibv_dealloc_pd", EBUSY)),
             &d.peer),
    NOMEM(rpma_mr_reg, out_of_memory(), o.peer, o.memory, 64, 1, &x.local),
    PROVIDER(rpma_mr_reg, "ibv_reg_mr", fault("ibv_reg_mr", EIO), o.peer, o.memory, 64, 1,
             &x.local),
    PROVIDER(rpma_mr_dereg, "ibv_dereg_mr", both(make_region, fault("ibv_dereg_mr", EIO)),
             &d.local),
    NOMEM(rpma_mr_remote_from_descriptor, out_of_memory(), kNoUsage.data(), kNoUsage.size(),
          &x.remote),
    INVAL(rpma_mr_remote_from_descriptor, "usage 0x0", nothing, kNoUsage.data(), kNoUsage.size(),
          &x.remote),
    INVAL(rpma_mr_remote_from_descriptor, "size 0", nothing, kNoSize.data(), kNoSize.size(),
          &x.remote),
    INVAL(rpma_mr_remote_from_descriptor, "0xfffffffffffff000", nothing, kNoEnd.data(),
          kNoEnd.size(), &x.remote),
    INVAL(rpma_mr_advise, "EINVAL", fault("advise_mr", EINVAL), o.local, 0, 64, 0, 0),
    INVAL(rpma_mr_advise, "EFAULT", fault("advise_mr", EFAULT), o.local, 0, 64, 0, 0),
    FAILS(rpma_mr_advise, RPMA_E_NOSUPP, "EOPNOTSUPP", fault("advise_mr", EOPNOTSUPP), o.local, 0,
          64, 0, 0),
    PROVIDER(rpma_mr_advise, "ibv_advise_mr", fault("advise_mr", EIO), o.local, 0, 64, 0, 0),
    NOMEM(rpma_conn_cfg_new, out_of_memory(), &x.cfg),
    PROVIDER(rpma_conn_cfg_delete, "ibv_destroy_srq",
             both(make_last_user, fault("ibv_destroy_srq", EBUSY)), &d.cfg),
    FAILS(rpma_conn_next_event, RPMA_E_NO_EVENT, nullptr, nothing, o.conn, &x.event),
    FAILS(rpma_conn_next_event, RPMA_E_NO_EVENT, nullptr, fault("rdma_get_cm_event", ENODATA),
          o.conn, &x.event),
    FAILS(rpma_conn_next_event, RPMA_E_NO_EVENT, nullptr, fault("rdma_get_cm_event", EINTR), o.conn,
          &x.event),
    FAILS(rpma_conn_next_event, RPMA_E_UNKNOWN, "RDMA_CM_EVENT_ADDR_CHANGE",
          event_of_connection(RDMA_CM_EVENT_ADDR_CHANGE), o.conn, &x.event),
    PROVIDER(rpma_conn_next_event, "rdma_get_cm_event", fault("rdma_get_cm_event", EIO), o.conn,
             &x.event),
    PROVIDER(rpma_conn_next_event, "rdma_ack_cm_event",
             both(event_of_connection(RDMA_CM_EVENT_ESTABLISHED), fault("rdma_ack_cm_event", EIO)),
             o.conn, &x.event),
    PROVIDER(rpma_conn_disconnect, "rdma_disconnect", fault("rdma_disconnect", EIO), o.conn),
    PROVIDER(rpma_conn_delete, "ibv_destroy_cq",
             both(make_connection, fault("ibv_destroy_cq", EIO)), &d.conn),
    PROVIDER(rpma_conn_delete, "ibv_destroy_comp_channel",
             both(make_connection, fault("ibv_destroy_comp_channel", EIO)), &d.conn),
    PROVIDER(rpma_conn_delete, "ibv_destroy_comp_channel",
             both(make_shared_connection, fault("ibv_destroy_comp_channel", EIO)), &d.conn),
    PROVIDER(rpma_conn_delete, "rdma_destroy_id",
             both(make_connection, fault("rdma_destroy_id", EIO)), &d.conn),
    FAILS(rpma_conn_get_compl_fd, RPMA_E_NOT_SHARED_CHNL, "not shared", nothing, o.conn, &x.number),
    FAILS(rpma_conn_wait, RPMA_E_NOT_SHARED_CHNL, "not shared", nothing, o.conn, 0, &x.cq, &x.flag),
    FAILS(rpma_conn_wait, RPMA_E_NO_COMPLETION, nullptr, nothing, o.shared_conn, 0, &x.cq, &x.flag),
    FAILS(rpma_conn_wait, RPMA_E_UNKNOWN, "not the connection's", foreign_completion_event,
          o.shared_conn, 0, &x.cq, &x.flag),
    // The one exception to untouched outputs: the queue is NULL, and which one it was is told.
    FAILS(rpma_conn_wait, RPMA_E_PROVIDER, "ibv_req_notify_cq",
          both(shared_completion_event, fault("req_notify_cq", EIO)), o.shared_conn, 0, &d.cq,
          nullptr),
    NOMEM(rpma_conn_req_new, out_of_memory(1), o.peer, "a", "1", nullptr, &x.req),
    NOMEM(rpma_conn_req_new, out_of_memory(2), o.peer, "a", "1", nullptr, &x.req),
    NOMEM(rpma_conn_req_new, out_of_memory(3), o.peer, "a", "1", nullptr, &x.req),
    INVAL(rpma_conn_req_new, "shared completion channel", nothing, o.peer, "a", "1",
          o.contradictory_cfg, &x.req),
    PROVIDER(rpma_conn_req_new, "rdma_getaddrinfo", fault("rdma_getaddrinfo", EIO), o.peer, "a",
             "1", nullptr, &x.req),
    PROVIDER(rpma_conn_req_new, "rdma_create_id", fault("rdma_create_id", EIO), o.peer, "a", "1",
             nullptr, &x.req),
    PROVIDER(rpma_conn_req_new, "rdma_resolve_addr", fault("rdma_resolve_addr", EIO), o.peer, "a",
             "1", nullptr, &x.req),
    PROVIDER(rpma_conn_req_new, "rdma_resolve_route", fault("rdma_resolve_route", EIO), o.peer, "a",
             "1", nullptr, &x.req),
    PROVIDER(rpma_conn_req_new, "rdma_create_event_channel",
             fault("rdma_create_event_channel", EIO), o.peer, "a", "1", nullptr, &x.req),
    PROVIDER(rpma_conn_req_new, "rdma_migrate_id", fault("rdma_migrate_id", EIO), o.peer, "a", "1",
             nullptr, &x.req),
    PROVIDER(rpma_conn_req_new, "ibv_create_comp_channel", fault("ibv_create_comp_channel", EIO),
             o.peer, "a", "1", nullptr, &x.req),
    PROVIDER(rpma_conn_req_new, "ibv_create_comp_channel", fault("ibv_create_comp_channel", EIO),
             o.peer, "a", "1", o.shared_cfg, &x.req),
    PROVIDER(rpma_conn_req_new, "ibv_create_cq", fault("ibv_create_cq", EIO), o.peer, "a", "1",
             nullptr, &x.req),
    PROVIDER(rpma_conn_req_new, "ibv_req_notify_cq", fault("req_notify_cq", EIO), o.peer, "a", "1",
             nullptr, &x.req),
    PROVIDER(rpma_conn_req_new, "rdma_create_qp_ex", fault("rdma_create_qp_ex", EIO), o.peer, "a",
             "1", nullptr, &x.req),
    PROVIDER(rpma_conn_req_delete, "rdma_reject", both(make_incoming, fault("rdma_reject", EIO)),
             &d.req),
    PROVIDER(rpma_conn_req_delete, "ibv_destroy_cq",
             both(make_outgoing, fault("ibv_destroy_cq", EIO)), &d.req),
    PROVIDER(rpma_conn_req_delete, "ibv_destroy_comp_channel",
             both(make_incoming, fault("ibv_destroy_comp_channel", EIO)), &d.req),
    PROVIDER(rpma_conn_req_delete, "rdma_destroy_id",
             both(make_outgoing, fault("rdma_destroy_id", EIO)), &d.req),
    INVAL(rpma_conn_req_connect, "conn_ptr", make_outgoing, &d.req, nullptr, nullptr),
    INVAL(rpma_conn_req_connect, "private data", make_outgoing, &d.req, &kNoLength, &x.conn),
    INVAL(rpma_conn_req_connect, "private data", make_incoming, &d.req, &kNoPointer, &x.conn),
    NOMEM(rpma_conn_req_connect, both(make_outgoing, out_of_memory()), &d.req, nullptr, &x.conn),
    NOMEM(rpma_conn_req_connect, both(make_incoming, out_of_memory()), &d.req, nullptr, &x.conn),
    PROVIDER(rpma_conn_req_connect, "ibv_reg_mr",
             both(make_first_outgoing, fault("ibv_reg_mr", EIO)), &d.req, nullptr, &x.conn),
    PROVIDER(rpma_conn_req_connect, "rdma_connect", both(make_outgoing, fault("rdma_connect", EIO)),
             &d.req, nullptr, &x.conn),
    PROVIDER(rpma_conn_req_connect, "rdma_accept", both(make_incoming, fault("rdma_accept", EIO)),
             &d.req, nullptr, &x.conn),
    FULL(rpma_conn_req_recv, o.req, o.local, 0, 1, nullptr),
    DEAD(rpma_conn_req_recv, o.req, o.local, 0, 1, nullptr),
    NOMEM(rpma_ep_listen, out_of_memory(), o.peer, "a", "1", &x.ep),
    PROVIDER(rpma_ep_listen, "rdma_create_event_channel", fault("rdma_create_event_channel", EIO),
             o.peer, "a", "1", &x.ep),
    PROVIDER(rpma_ep_listen, "rdma_create_id", fault("rdma_create_id", EIO), o.peer, "a", "1",
             &x.ep),
    PROVIDER(rpma_ep_listen, "rdma_getaddrinfo", fault("rdma_getaddrinfo", EIO), o.peer, "a", "1",
             &x.ep),
    PROVIDER(rpma_ep_listen, "rdma_bind_addr", fault("rdma_bind_addr", EIO), o.peer, "a", "1",
             &x.ep),
    PROVIDER(rpma_ep_listen, "rdma_listen", fault("rdma_listen", EIO), o.peer, "a", "1", &x.ep),
    PROVIDER(rpma_ep_shutdown, "rdma_destroy_id",
             both(make_endpoint, fault("rdma_destroy_id", EIO)), &d.ep),
    INVAL(rpma_ep_next_conn_req, "RDMA_CM_EVENT_ADDR_CHANGE", strange_event_at_the_endpoint, o.ep,
          nullptr, &x.req),
    INVAL(rpma_ep_next_conn_req, "shared completion channel", arrive, o.ep, o.contradictory_cfg,
          &x.req),
    FAILS(rpma_ep_next_conn_req, RPMA_E_NO_EVENT, nullptr, nothing, o.ep, nullptr, &x.req),
    FAILS(rpma_ep_next_conn_req, RPMA_E_NO_EVENT, nullptr, fault("rdma_get_cm_event", ENODATA),
          o.ep, nullptr, &x.req),
    FAILS(rpma_ep_next_conn_req, RPMA_E_NO_EVENT, nullptr, fault("rdma_get_cm_event", EINTR), o.ep,
          nullptr, &x.req),
    NOMEM(rpma_ep_next_conn_req, both(arrive, out_of_memory()), o.ep, nullptr, &x.req),
    PROVIDER(rpma_ep_next_conn_req, "rdma_get_cm_event", fault("rdma_get_cm_event", EIO), o.ep,
             nullptr, &x.req),
    PROVIDER(rpma_ep_next_conn_req, "rdma_ack_cm_event",
             both(arrive, fault("rdma_ack_cm_event", EIO)), o.ep, nullptr, &x.req),
    PROVIDER(rpma_ep_next_conn_req, "ibv_create_comp_channel",
             both(arrive, fault("ibv_create_comp_channel", EIO)), o.ep, nullptr, &x.req),
    PROVIDER(rpma_ep_next_conn_req, "ibv_create_cq", both(arrive, fault("ibv_create_cq", EIO)),
             o.ep, nullptr, &x.req),
    PROVIDER(rpma_ep_next_conn_req, "ibv_req_notify_cq", both(arrive, fault("req_notify_cq", EIO)),
             o.ep, nullptr, &x.req),
    PROVIDER(rpma_ep_next_conn_req, "rdma_create_qp_ex",
             both(arrive, fault("rdma_create_qp_ex", EIO)), o.ep, nullptr, &x.req),
    NOMEM(rpma_srq_cfg_new, out_of_memory(), &x.srq_cfg),
    NOMEM(rpma_srq_new, out_of_memory(1), o.peer, nullptr, &x.srq),
    NOMEM(rpma_srq_new, out_of_memory(2), o.peer, nullptr, &x.srq),
    PROVIDER(rpma_srq_new, "ibv_create_srq", fault("ibv_create_srq", EIO), o.peer, nullptr, &x.srq),
    PROVIDER(rpma_srq_new, "ibv_create_comp_channel", fault("ibv_create_comp_channel", EIO), o.peer,
             nullptr, &x.srq),
    PROVIDER(rpma_srq_new, "ibv_create_cq", fault("ibv_create_cq", EIO), o.peer, nullptr, &x.srq),
    PROVIDER(rpma_srq_new, "ibv_req_notify_cq", fault("req_notify_cq", EIO), o.peer, nullptr,
             &x.srq),
    PROVIDER(rpma_srq_delete, "ibv_destroy_cq", both(make_srq, fault("ibv_destroy_cq", EIO)),
             &d.srq),
    PROVIDER(rpma_srq_delete, "ibv_destroy_comp_channel",
             both(make_srq, fault("ibv_destroy_comp_channel", EIO)), &d.srq),
    PROVIDER(rpma_srq_delete, "ibv_destroy_srq", both(make_srq, fault("ibv_destroy_srq", EIO)),
             &d.srq),
    FULL(rpma_srq_recv, o.srq, o.local, 0, 1, nullptr),
    DEAD(rpma_srq_recv, o.srq, o.local, 0, 1, nullptr),
    FULL(rpma_read, o.conn, o.local, 0, o.remote, 0, 1, kAlways, nullptr),
    DEAD(rpma_read, o.conn, o.local, 0, o.remote, 0, 1, kAlways, nullptr),
    FULL(rpma_write, o.conn, o.remote, 0, o.local, 0, 1, kAlways, nullptr),
    DEAD(rpma_write, o.conn, o.remote, 0, o.local, 0, 1, kAlways, nullptr),
    FULL(rpma_write_with_imm, o.conn, o.remote, 0, o.local, 0, 1, kAlways, 7, nullptr),
    DEAD(rpma_write_with_imm, o.conn, o.remote, 0, o.local, 0, 1, kAlways, 7, nullptr),
    FULL(rpma_atomic_write, o.conn, o.remote, 0, kEight, kAlways, nullptr),
    DEAD(rpma_atomic_write, o.conn, o.remote, 0, kEight, kAlways, nullptr),
    FAILS(rpma_flush, RPMA_E_NOSUPP, "registered", nothing, o.conn, o.unflushable, 0, 1, kVisible,
          kAlways, nullptr),
    FAILS(rpma_flush, RPMA_E_NOSUPP, "direct write", nothing, o.conn, o.remote, 0, 1, kPersistent,
          kAlways, nullptr),
    FULL(rpma_flush, o.conn, o.remote, 0, 1, kVisible, kAlways, nullptr),
    DEAD(rpma_flush, o.conn, o.remote, 0, 1, kVisible, kAlways, nullptr),
    FULL(rpma_send, o.conn, o.local, 0, 1, kAlways, nullptr),
    DEAD(rpma_send, o.conn, o.local, 0, 1, kAlways, nullptr),
    FULL(rpma_send_with_imm, o.conn, o.local, 0, 1, kAlways, 7, nullptr),
    DEAD(rpma_send_with_imm, o.conn, o.local, 0, 1, kAlways, 7, nullptr),
    FULL(rpma_recv, o.conn, o.local, 0, 1, nullptr),
    DEAD(rpma_recv, o.conn, o.local, 0, 1, nullptr),
    FAILS(rpma_cq_wait, RPMA_E_NO_COMPLETION, nullptr, nothing, o.cq),
    FAILS(rpma_cq_wait, RPMA_E_NO_COMPLETION, nullptr, fault("ibv_get_cq_event", EINTR), o.cq),
    PROVIDER(rpma_cq_wait, "ibv_req_notify_cq", both(completion_event, fault("req_notify_cq", EIO)),
             o.cq),
    FAILS(rpma_cq_wait, RPMA_E_SHARED_CHANNEL, "rpma_conn_wait", nothing, o.shared_cq),
    FAILS(rpma_cq_get_wc, RPMA_E_NO_COMPLETION, nullptr, nothing, o.cq, 1, &x.wc, &x.number),
    PROVIDER(rpma_cq_get_wc, "ibv_poll_cq", poll_result(-EIO), o.cq, 1, &x.wc, &x.number),
    FAILS(rpma_cq_get_wc, RPMA_E_UNKNOWN, "2 completions of 1", poll_result(2), o.cq, 1, &x.wc,
          &x.number),
};

}  // namespace entry_points
