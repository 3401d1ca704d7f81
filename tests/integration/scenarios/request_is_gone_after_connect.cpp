// SPDX-License-Identifier: BSD-3-Clause
// A request is gone after rpma_conn_req_connect(), whatever that returned: nothing is left to
// delete, nothing leaks, and the other side sees a rejection.
#include <array>

#include "common/session.hpp"

namespace {

constexpr int kWrongArguments = 3;

// One of three wrong ways to connect.
void misuse(it::Request request, int way) {
    std::array<std::byte, 4> bytes{};
    const rpma_conn_private_data no_length{.ptr = bytes.data(), .len = 0};
    const rpma_conn_private_data no_pointer{.ptr = nullptr, .len = 4};
    rpma_conn_req* raw = request.release();
    rpma_conn* connection = nullptr;
    if (way == 0) {
        CHECK_CODE(rpma_conn_req_connect(&raw, &no_length, &connection), RPMA_E_INVAL);
    } else if (way == 1) {
        CHECK_CODE(rpma_conn_req_connect(&raw, &no_pointer, &connection), RPMA_E_INVAL);
    } else {
        CHECK_CODE(rpma_conn_req_connect(&raw, nullptr, nullptr), RPMA_E_INVAL);
    }
    CHECK(raw == nullptr && connection == nullptr);
    CHECK_OK(rpma_conn_req_delete(&raw));
}

// More private data than an accept or a request can carry: the provider refuses.
void send_too_much(it::Request request) {
    std::array<std::byte, 255> bytes{};
    const rpma_conn_private_data data{.ptr = bytes.data(), .len = 255};
    rpma_conn_req* raw = request.release();
    rpma_conn* connection = nullptr;
    CHECK_CODE(rpma_conn_req_connect(&raw, &data, &connection), RPMA_E_PROVIDER);
    CHECK(raw == nullptr && connection == nullptr);
}

void expect_descriptors(int before) {
    const it::Deadline deadline;
    while (it::count_descriptors() > before) {
        CHECK(!deadline.passed());
        it::sleep_ms(10);
    }
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    for (int way = 0; way < kWrongArguments; ++way) {
        misuse(it::next_request(endpoint.get()), way);
    }
    send_too_much(it::next_request(endpoint.get()));
    it::expect_closed(it::accept(endpoint.get()).get());
}

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    role.peer().await("listening");
    const int before = it::count_descriptors();
    for (int way = 0; way < kWrongArguments; ++way) {
        misuse(it::new_request(role, peer.get()), way);
    }
    send_too_much(it::new_request(role, peer.get()));
    for (int count = 0; count < kWrongArguments + 1; ++count) {
        const it::Connection connection = it::start(it::new_request(role, peer.get()));
        it::expect_event(connection.get(), RPMA_CONN_REJECTED);
    }
    expect_descriptors(before);
    it::disconnect(it::establish(it::new_request(role, peer.get())).get());
}
