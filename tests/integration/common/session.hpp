// SPDX-License-Identifier: BSD-3-Clause
// The usual course of a scenario over librpma: the server listens and says so, the client connects,
// both see ESTABLISHED, the server's region travels in the private data of the accept.
#pragma once

#include "common/role.hpp"
#include "common/rpma.hpp"

namespace it {

// Listens on the role's address and tells every client.
Endpoint listen(Role& role, rpma_peer* peer);
// The next connection request of an endpoint, not yet answered.
Request next_request(rpma_ep* endpoint, const rpma_conn_cfg* cfg = nullptr);
// Sends or answers a request and waits for nothing.
Connection start(Request request, ConstBytes data = {});
// Sends or answers a request and waits for ESTABLISHED.
Connection establish(Request request, ConstBytes data = {});
Connection accept(rpma_ep* endpoint, const rpma_conn_cfg* cfg = nullptr, ConstBytes data = {});

// A request that was made, not yet sent.
Request new_request(const Role& role, rpma_peer* peer, const rpma_conn_cfg* cfg = nullptr);
// Waits for the server to listen, connects, waits for ESTABLISHED.
Connection connect(Role& role, rpma_peer* peer, const rpma_conn_cfg* cfg = nullptr,
                   ConstBytes data = {});

// A server with one region and one connection whose client got the region's descriptor.
struct Served {
    Peer peer;
    Region region;
    Connection connection;
};
Served serve(Role& role, std::size_t size, int usage = kUsualUsage,
             const rpma_conn_cfg* cfg = nullptr);

// A client connected to such a server, with a region of its own.
struct Attached {
    Peer peer;
    Region local;
    Connection connection;
    RemoteMr remote;

    rpma_conn* conn() const { return connection.get(); }
    // Each posts one operation and waits for its completion, which must be a success.
    void write(std::size_t remote_offset, std::size_t local_offset, std::size_t size) const;
    void read(std::size_t local_offset, std::size_t remote_offset, std::size_t size) const;
    void flush(std::size_t offset, std::size_t size,
               rpma_flush_type type = RPMA_FLUSH_TYPE_VISIBILITY) const;
};
Attached attach(Role& role, std::size_t local_size, const rpma_conn_cfg* cfg = nullptr);

// The opcode of a flush's completion: a read where it is emulated.
bool is_flush_opcode(ibv_wc_opcode opcode);

// Declares to this side that the other can write directly to persistent memory.
void declare_direct_write(rpma_conn* connection, bool supported = true);

}  // namespace it
