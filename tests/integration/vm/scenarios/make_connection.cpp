// SPDX-License-Identifier: BSD-3-Clause
// Argument "made": two peers connect, and a write arrives. Argument "refused": the library of this
// run cannot even make a request for a connection on this device.
#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = 4096;

void expect_no_request(const it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    rpma_conn_req* request = nullptr;
    CHECK_CODE(
        rpma_conn_req_new(peer.get(), role.address.c_str(), role.port.c_str(), nullptr, &request),
        RPMA_E_PROVIDER);
}

}  // namespace

void server(it::Role& role) {
    if (role.has_argument("refused")) {
        return;
    }
    const it::Served served = it::serve(role, kSize);
    it::expect_closed(served.connection.get());
    it::check_filled(served.region.bytes(), 3);
}

void client(it::Role& role) {
    if (role.has_argument("refused")) {
        expect_no_request(role);
        return;
    }
    const it::Attached attached = it::attach(role, kSize);
    it::fill(attached.local.bytes(), 3);
    attached.write(0, 0, kSize);
    attached.flush(0, kSize);
    it::disconnect(attached.conn());
}
