// SPDX-License-Identifier: BSD-3-Clause
// A request that the server deletes is reported to the client as rejected; so is one still
// unanswered when the endpoint is shut down. The next request is served.
#include "common/session.hpp"

namespace {

constexpr int kRejections = 20;

it::Connection send_request(const it::Role& role, rpma_peer* peer) {
    return it::start(it::new_request(role, peer));
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    it::Endpoint endpoint = it::listen(role, peer.get());
    for (int count = 0; count < kRejections; ++count) {
        it::next_request(endpoint.get()).reset();
    }
    it::expect_closed(it::accept(endpoint.get()).get());

    // A request that waits in the endpoint, not yet taken.
    int fd = -1;
    CHECK_OK(rpma_ep_get_fd(endpoint.get(), &fd));
    role.peer().signal("send one that is not answered");
    CHECK(it::wait_readable(fd, it::Deadline()));
    endpoint.reset();
    role.peer().signal("endpoint gone");
}

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    role.peer().await("listening");
    for (int count = 0; count < kRejections; ++count) {
        it::expect_event(send_request(role, peer.get()).get(), RPMA_CONN_REJECTED);
    }
    it::disconnect(it::establish(it::new_request(role, peer.get())).get());

    role.peer().await("send one that is not answered");
    const it::Connection unanswered = send_request(role, peer.get());
    role.peer().await("endpoint gone");
    it::expect_event(unanswered.get(), RPMA_CONN_REJECTED);
}
