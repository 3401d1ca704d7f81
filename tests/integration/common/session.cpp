// SPDX-License-Identifier: BSD-3-Clause
#include "common/session.hpp"

#include <utility>

namespace it {

Endpoint listen(Role& role, rpma_peer* peer) {
    rpma_ep* endpoint = nullptr;
    CHECK_OK(rpma_ep_listen(peer, role.address.c_str(), role.port.c_str(), &endpoint));
    for (Sync& client : role.peers) {
        client.signal("listening");
    }
    return Endpoint(endpoint);
}

Request next_request(rpma_ep* endpoint, const rpma_conn_cfg* cfg) {
    int fd = -1;
    CHECK_OK(rpma_ep_get_fd(endpoint, &fd));
    if (!wait_readable(fd, Deadline())) {
        FAIL("no connection request in time");
    }
    rpma_conn_req* request = nullptr;
    CHECK_OK(rpma_ep_next_conn_req(endpoint, cfg, &request));
    return Request(request);
}

Connection start(Request request, ConstBytes data) {
    const rpma_conn_private_data sent = to_private_data(data);
    rpma_conn_req* raw = request.release();
    rpma_conn* connection = nullptr;
    CHECK_OK(rpma_conn_req_connect(&raw, data.empty() ? nullptr : &sent, &connection));
    CHECK(raw == nullptr);
    return Connection(connection);
}

Connection establish(Request request, ConstBytes data) {
    Connection connection = start(std::move(request), data);
    expect_event(connection.get(), RPMA_CONN_ESTABLISHED);
    return connection;
}

Connection accept(rpma_ep* endpoint, const rpma_conn_cfg* cfg, ConstBytes data) {
    return establish(next_request(endpoint, cfg), data);
}

Request new_request(const Role& role, rpma_peer* peer, const rpma_conn_cfg* cfg) {
    rpma_conn_req* request = nullptr;
    CHECK_OK(rpma_conn_req_new(peer, role.address.c_str(), role.port.c_str(), cfg, &request));
    return Request(request);
}

Connection connect(Role& role, rpma_peer* peer, const rpma_conn_cfg* cfg, ConstBytes data) {
    role.peer().await("listening");
    return establish(new_request(role, peer, cfg), data);
}

Served serve(Role& role, std::size_t size, int usage, const rpma_conn_cfg* cfg) {
    Peer peer = open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    Region region(peer.get(), size, usage);
    const Endpoint endpoint = listen(role, peer.get());
    const Descriptor descriptor = describe(region.mr());
    Connection connection = accept(endpoint.get(), cfg, descriptor);
    return {std::move(peer), std::move(region), std::move(connection)};
}

Attached attach(Role& role, std::size_t local_size, const rpma_conn_cfg* cfg) {
    Peer peer = open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    Region local(peer.get(), local_size, kUsualUsage);
    Connection connection = connect(role, peer.get(), cfg);
    RemoteMr remote = remote_region(private_data(connection.get()));
    return {std::move(peer), std::move(local), std::move(connection), std::move(remote)};
}

void Attached::write(std::size_t remote_offset, std::size_t local_offset, std::size_t size) const {
    CHECK_OK(rpma_write(conn(), remote.get(), remote_offset, local.mr(), local_offset, size,
                        RPMA_F_COMPLETION_ALWAYS, context(1)));
    expect_done(conn(), IBV_WC_RDMA_WRITE, context(1));
}

void Attached::read(std::size_t local_offset, std::size_t remote_offset, std::size_t size) const {
    CHECK_OK(rpma_read(conn(), local.mr(), local_offset, remote.get(), remote_offset, size,
                       RPMA_F_COMPLETION_ALWAYS, context(2)));
    expect_done(conn(), IBV_WC_RDMA_READ, context(2));
}

void Attached::flush(std::size_t offset, std::size_t size, rpma_flush_type type) const {
    CHECK_OK(
        rpma_flush(conn(), remote.get(), offset, size, type, RPMA_F_COMPLETION_ALWAYS, context(3)));
    const ibv_wc wc = next_completion(main_cq(conn()));
    if (wc.status != IBV_WC_SUCCESS) {
        FAIL("the flush ended with '%s'", ibv_wc_status_str(wc.status));
    }
    CHECK(is_flush_opcode(wc.opcode));
    CHECK_EQ(wc.wr_id, 3);
}

bool is_flush_opcode(ibv_wc_opcode opcode) {
#ifdef RPMA_HAVE_NATIVE_FLUSH
    if (opcode == IBV_WC_FLUSH) {
        return true;
    }
#endif
    return opcode == IBV_WC_RDMA_READ;
}

void declare_direct_write(rpma_conn* connection, bool supported) {
    rpma_peer_cfg* raw = nullptr;
    CHECK_OK(rpma_peer_cfg_new(&raw));
    const PeerCfg cfg(raw);
    CHECK_OK(rpma_peer_cfg_set_direct_write_to_pmem(cfg.get(), supported));
    CHECK_OK(rpma_conn_apply_remote_peer_cfg(connection, cfg.get()));
}

}  // namespace it
