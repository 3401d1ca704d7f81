// SPDX-License-Identifier: BSD-3-Clause
// Many connections asked for at the same instant are all established, and all of them work.
// Argument: how many.
#include <cstdlib>

#include "common/device_accesses.hpp"
#include "common/pattern.hpp"
#include "common/session.hpp"
#include "common/usage.hpp"

namespace {

constexpr std::size_t kPart = 4096;
constexpr std::size_t kDescriptorsPerConnection = 6;

std::size_t count_of(const it::Role& role) {
    CHECK(role.arguments.size() == 1);
    const std::size_t count = std::strtoul(role.arguments[0].c_str(), nullptr, 10);
    it::raise_descriptor_limit(count * kDescriptorsPerConnection);
    return count;
}

void write_part(rpma_conn* connection, const it::Region& local, std::size_t number) {
    const it::RemoteMr remote = it::remote_region(it::private_data(connection));
    it::fill(local.bytes(), number);
    CHECK_OK(rpma_write(connection, remote.get(), number * kPart, local.mr(), 0, kPart,
                        RPMA_F_COMPLETION_ALWAYS, it::context(number)));
    it::expect_done(connection, IBV_WC_RDMA_WRITE, it::context(number));
}

}  // namespace

void server(it::Role& role) {
    const std::size_t count = count_of(role);
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), count * kPart, it::kUsualUsage);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    role.peer().await("all asked for");
    std::vector<it::Connection> connections;
    while (connections.size() < count) {
        connections.push_back(
            it::start(it::next_request(endpoint.get()), it::describe(region.mr())));
    }
    for (const it::Connection& connection : connections) {
        it::expect_event(connection.get(), RPMA_CONN_ESTABLISHED);
    }
    role.peer().await("written");
    it::order_device_accesses();
    for (std::size_t number = 0; number < count; ++number) {
        it::check_filled(region.bytes(number * kPart, kPart), number);
    }
    role.peer().signal("checked");
    for (it::Connection& connection : connections) {
        it::expect_closed(connection.get());
        connection.reset();  // which answers the client's disconnecting
    }
}

void client(it::Role& role) {
    const std::size_t count = count_of(role);
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const it::Region local(peer.get(), kPart, it::kUsualUsage);
    role.peer().await("listening");
    std::vector<it::Request> requests;
    while (requests.size() < count) {
        requests.push_back(it::new_request(role, peer.get()));
    }
    std::vector<it::Connection> connections;
    for (it::Request& request : requests) {
        connections.push_back(it::start(std::move(request)));
    }
    role.peer().signal("all asked for");
    for (const it::Connection& connection : connections) {
        it::expect_event(connection.get(), RPMA_CONN_ESTABLISHED);
    }
    for (std::size_t number = 0; number < count; ++number) {
        write_part(connections[number].get(), local, number);
    }
    role.peer().signal("written");
    role.peer().await("checked");
    for (const it::Connection& connection : connections) {
        it::disconnect(connection.get());
    }
}
