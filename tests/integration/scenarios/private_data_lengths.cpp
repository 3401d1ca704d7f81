// SPDX-License-Identifier: BSD-3-Clause
// Lengths of private data on InfiniBand and RoCE: the receiver sees 56 bytes of a request and 196
// of an accept, what was sent first, then zeros, also when nothing was sent. More than fits is
// refused, never cut.
#include <array>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kInRequest = 56;
constexpr std::size_t kInAccept = 196;

struct Lengths {
    std::size_t request;
    std::size_t accept;
};
constexpr std::array<Lengths, 5> kCases = {
    {{0, 0}, {1, 1}, {24, 24}, {kInRequest, 0}, {0, kInAccept}}};

std::vector<std::byte> data_of(std::size_t length) {
    std::vector<std::byte> data(length);
    it::fill(data, length);
    return data;
}

void check_received(it::ConstBytes data, std::size_t sent, std::size_t area) {
    CHECK_EQ(data.size(), area);
    it::check_filled(data.first(sent), sent);
    it::check_all(data.subspan(sent), std::byte{0});
}

void refuse_too_much(const it::Role& role, rpma_peer* peer) {
    const std::vector<std::byte> data = data_of(kInRequest + 1);
    const rpma_conn_private_data sent = it::to_private_data(data);
    rpma_conn_req* request = it::new_request(role, peer).release();
    rpma_conn* connection = nullptr;
    CHECK_CODE(rpma_conn_req_connect(&request, &sent, &connection), RPMA_E_PROVIDER);
    CHECK(request == nullptr && connection == nullptr);
}

void skip_on_iwarp(const std::string& address) {
    ibv_context* device = nullptr;
    CHECK_OK(rpma_utils_get_ibv_context(address.c_str(), RPMA_UTIL_IBV_CONTEXT_REMOTE, &device));
    if (device->device->transport_type != IBV_TRANSPORT_IB) {
        it::skip("iWARP's private data has a length of its own");
    }
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    for (const Lengths& lengths : kCases) {
        it::Request request = it::next_request(endpoint.get());
        check_received(it::private_data(request.get()), lengths.request, kInRequest);
        const it::Connection connection =
            it::establish(std::move(request), data_of(lengths.accept));
        it::expect_closed(connection.get());
    }
}

void client(it::Role& role) {
    skip_on_iwarp(role.address);
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    role.peer().await("listening");
    refuse_too_much(role, peer.get());
    for (const Lengths& lengths : kCases) {
        const it::Connection connection =
            it::establish(it::new_request(role, peer.get()), data_of(lengths.request));
        check_received(it::private_data(connection.get()), lengths.accept, kInAccept);
        it::disconnect(connection.get());
    }
}
