// SPDX-License-Identifier: BSD-3-Clause
// Life of private data: readable before the request is answered, at the same place afterwards; the
// client's comes with ESTABLISHED and not before; a deleted request takes its data along.
#include <algorithm>
#include <array>

#include "common/session.hpp"

namespace {

constexpr std::array<std::byte, 8> kFromClient = {std::byte{1}, std::byte{2}, std::byte{3},
                                                  std::byte{4}, std::byte{5}, std::byte{6},
                                                  std::byte{7}, std::byte{8}};
constexpr std::array<std::byte, 3> kFromServer = {std::byte{0xa}, std::byte{0xb}, std::byte{0xc}};

bool begins_with(it::ConstBytes data, it::ConstBytes start) {
    return data.size() >= start.size() && std::equal(start.begin(), start.end(), data.begin());
}

void reject_one(rpma_ep* endpoint) {
    const it::Request request = it::next_request(endpoint);
    CHECK(begins_with(it::private_data(request.get()), kFromClient));
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    reject_one(endpoint.get());

    it::Request request = it::next_request(endpoint.get());
    const it::ConstBytes before = it::private_data(request.get());
    CHECK(begins_with(before, kFromClient));
    const it::Connection connection = it::establish(std::move(request), kFromServer);
    const it::ConstBytes after = it::private_data(connection.get());
    CHECK(after.data() == before.data() && after.size() == before.size());
    CHECK(begins_with(after, kFromClient));
    it::expect_closed(connection.get());
}

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const rpma_conn_private_data data = it::to_private_data(kFromClient);
    role.peer().await("listening");
    for (const rpma_conn_event expected : {RPMA_CONN_REJECTED, RPMA_CONN_ESTABLISHED}) {
        rpma_conn_req* request = it::new_request(role, peer.get()).release();
        rpma_conn* raw = nullptr;
        CHECK_OK(rpma_conn_req_connect(&request, &data, &raw));
        const it::Connection connection(raw);
        CHECK(it::private_data(raw).empty());
        it::expect_event(raw, expected);
        if (expected == RPMA_CONN_ESTABLISHED) {
            CHECK(begins_with(it::private_data(raw), kFromServer));
            it::disconnect(raw);
        }
    }
}
