// SPDX-License-Identifier: BSD-3-Clause
// Every address of the machine is the device's: literal IPv4 and IPv6, a name, and an address of a
// network interface, for look-ups of either side, and for a client and a server in one process.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <array>

#include "common/session.hpp"

namespace {

// IPv4 addresses of interfaces, and what always exists.
std::vector<std::string> addresses() {
    std::vector<std::string> found = {"127.0.0.1", "::1", "localhost"};
    ifaddrs* list = nullptr;
    CHECK(getifaddrs(&list) == 0);
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
        if (entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET) {
            std::array<char, INET_ADDRSTRLEN> text{};
            const auto* address = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr);
            CHECK(inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size()) != nullptr);
            found.emplace_back(text.data());
        }
    }
    freeifaddrs(list);
    return found;
}

// Both ends in this process.
void connect_to_self(const std::string& address, const std::string& port) {
    std::fprintf(stderr, "%s\n", address.c_str());
    const it::Peer local = it::open_peer(address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Peer remote = it::open_peer(address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const it::Region region(local.get(), 4096, it::kUsualUsage);
    const it::Region source(remote.get(), 4096, it::kUsualUsage);
    rpma_ep* raw_endpoint = nullptr;
    CHECK_OK(rpma_ep_listen(local.get(), address.c_str(), port.c_str(), &raw_endpoint));
    const it::Endpoint endpoint(raw_endpoint);
    rpma_conn_req* outgoing = nullptr;
    CHECK_OK(rpma_conn_req_new(remote.get(), address.c_str(), port.c_str(), nullptr, &outgoing));
    const it::Connection active = it::start(it::Request(outgoing));
    const it::Connection passive = it::start(it::next_request(endpoint.get()));
    it::expect_event(active.get(), RPMA_CONN_ESTABLISHED);
    it::expect_event(passive.get(), RPMA_CONN_ESTABLISHED);
    const it::RemoteMr target = it::remote_region(it::describe(region.mr()));
    CHECK_OK(rpma_write(active.get(), target.get(), 0, source.mr(), 0, 4096,
                        RPMA_F_COMPLETION_ALWAYS, it::context(1)));
    it::expect_done(active.get(), IBV_WC_RDMA_WRITE, it::context(1));
    CHECK_OK(rpma_conn_disconnect(active.get()));
    it::expect_closed(passive.get());
    CHECK_OK(rpma_conn_disconnect(passive.get()));
    it::expect_closed(active.get());
}

}  // namespace

void server(it::Role& role) {
    it::require_fabric();
    for (const std::string& address : addresses()) {
        connect_to_self(address, role.port);
    }
}

void client(it::Role&) {}
