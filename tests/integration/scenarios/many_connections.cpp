// SPDX-License-Identifier: BSD-3-Clause
// Many connections between two processes: each is used; then all are idle and cost no CPU; then
// each is used again. What a connection takes of the memory is reported, and bounded. Argument: how
// many connections.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/device_accesses.hpp"
#include "common/session.hpp"
#include "common/usage.hpp"

namespace {

constexpr std::size_t kSlot = 64;                       // bytes of the region for each connection
constexpr std::size_t kDescriptorsPerConnection = 6;    // on one side, at most
constexpr std::size_t kMemoryPerConnection = 64 << 10;  // queues of 10 entries are a small part
constexpr int kIdleMs = 1000;
constexpr long kIdleWakeUps = 3;

std::size_t count_of(const it::Role& role) {
    CHECK(role.arguments.size() == 1);
    return std::strtoul(role.arguments[0].c_str(), nullptr, 10);
}

void report_memory(const char* side, std::size_t before, std::size_t connections) {
    const std::size_t now = it::private_bytes();
    const std::size_t each = now > before ? (now - before) / connections : 0;
    std::fprintf(stderr, "%s: %zu connections, %zu bytes of memory each\n", side, connections,
                 each);
    if (it::time_scale() == 1) {  // sanitizers have memory of their own
        CHECK(each <= kMemoryPerConnection);
    }
}

// What was under way may end late on a busy machine, so there is more than one try.
void stay_idle() {
    long wake_ups = 0;
    for (int tries = 0; tries < 4; ++tries) {
        it::sleep_ms(200);
        const long before = it::sleeps_of_device();
        it::sleep_ms(kIdleMs);
        wake_ups = it::sleeps_of_device() - before;
        if (wake_ups <= kIdleWakeUps) {
            return;
        }
    }
    FAIL("the device's thread woke up %ld times in %d ms without work", wake_ups, kIdleMs);
}

void write_number(rpma_conn* connection, const it::Region& local, rpma_mr_remote* remote,
                  std::size_t slot, std::uint64_t number) {
    std::memcpy(local.bytes().data(), &number, sizeof number);
    CHECK_OK(rpma_write(connection, remote, slot * kSlot, local.mr(), 0, sizeof number,
                        RPMA_F_COMPLETION_ON_ERROR, nullptr));
    CHECK_OK(rpma_flush(connection, remote, slot * kSlot, sizeof number, RPMA_FLUSH_TYPE_VISIBILITY,
                        RPMA_F_COMPLETION_ALWAYS, nullptr));
    const ibv_wc wc = it::next_completion(it::main_cq(connection));
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
}

void check_numbers(const it::Region& region, std::size_t count, std::uint64_t base) {
    it::order_device_accesses();
    for (std::size_t slot = 0; slot < count; ++slot) {
        std::uint64_t number = 0;
        std::memcpy(&number, region.bytes(slot * kSlot, sizeof number).data(), sizeof number);
        CHECK_EQ(number, base + slot);
    }
}

}  // namespace

void server(it::Role& role) {
    const std::size_t count = count_of(role);
    it::raise_descriptor_limit(count * kDescriptorsPerConnection);
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), count * kSlot, it::kUsualUsage);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    const std::size_t before = it::private_bytes();
    std::vector<it::Connection> connections;
    while (connections.size() < count) {
        connections.push_back(it::accept(endpoint.get(), nullptr, it::describe(region.mr())));
    }
    role.peer().await("used");
    check_numbers(region, count, 1);
    report_memory("server", before, count);
    role.peer().signal("be idle");
    stay_idle();
    role.peer().await("used again");
    check_numbers(region, count, 1000000);
    role.peer().signal("checked");
    for (it::Connection& connection : connections) {
        it::expect_closed(connection.get());
        connection.reset();  // which answers the client's disconnecting
    }
}

void client(it::Role& role) {
    const std::size_t count = count_of(role);
    it::raise_descriptor_limit(count * kDescriptorsPerConnection);
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const it::Region local(peer.get(), 4096, it::kUsualUsage);
    role.peer().await("listening");
    const std::size_t before = it::private_bytes();
    std::vector<it::Connection> connections;
    it::RemoteMr remote;
    while (connections.size() < count) {
        connections.push_back(it::establish(it::new_request(role, peer.get())));
        rpma_conn* const newest = connections.back().get();
        remote = it::remote_region(it::private_data(newest));
        write_number(newest, local, remote.get(), connections.size() - 1, connections.size());
    }
    report_memory("client", before, count);
    role.peer().signal("used");
    role.peer().await("be idle");
    stay_idle();
    for (std::size_t slot = 0; slot < count; ++slot) {
        write_number(connections[slot].get(), local, remote.get(), slot, 1000000 + slot);
    }
    role.peer().signal("used again");
    role.peer().await("checked");
    for (const it::Connection& connection : connections) {
        it::disconnect(connection.get());
    }
}
