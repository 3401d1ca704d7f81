// SPDX-License-Identifier: BSD-3-Clause
// The client is there before the server: making and sending the request succeed, the answer is
// "rejected", and a client that tries again is connected once the server listens.
#include "common/session.hpp"

namespace {

constexpr int kTries = 200;

rpma_conn_event try_once(const it::Role& role, rpma_peer* peer) {
    const it::Connection connection = it::start(it::new_request(role, peer));
    const rpma_conn_event event = it::next_event(connection.get());
    if (event == RPMA_CONN_ESTABLISHED) {
        it::disconnect(connection.get());
    }
    return event;
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    role.peer().await("was rejected");
    it::sleep_ms(300);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    const it::Connection connection = it::accept(endpoint.get());
    it::expect_closed(connection.get());
}

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    CHECK_EQ(try_once(role, peer.get()), RPMA_CONN_REJECTED);
    const int descriptors = it::count_descriptors();
    role.peer().signal("was rejected");
    int tries = 0;
    while (try_once(role, peer.get()) != RPMA_CONN_ESTABLISHED) {
        CHECK(++tries < kTries);
        it::sleep_ms(50);
    }
    role.peer().await("listening");
    const it::Deadline deadline;
    while (it::count_descriptors() > descriptors) {
        CHECK(!deadline.passed());
        it::sleep_ms(10);
    }
}
