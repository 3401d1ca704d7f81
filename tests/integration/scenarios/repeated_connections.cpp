// SPDX-License-Identifier: BSD-3-Clause
// Connecting and disconnecting again and again leaves no descriptor, thread, region or byte behind,
// on either side. Argument: how often.
#include <cstdlib>

#include "common/session.hpp"
#include "common/usage.hpp"

namespace {

constexpr int kWarmUp = 50;
// What the allocator, the tables and the rings may still grow by, over all rounds.
constexpr std::size_t kHeapGrowth = 64 << 10;
// The same while connections come and go: those that have ended must not pile up for a while.
constexpr std::size_t kHeapGrowthMeanwhile = 512 << 10;

int rounds_of(const it::Role& role) {
    return role.arguments.empty() ? 150 : std::atoi(role.arguments[0].c_str());
}

struct Use {
    int descriptors = it::count_descriptors();
    int threads = it::count_threads();
    std::size_t heap = it::heap_bytes();

    bool exceeds(const Use& other) const {
        return descriptors > other.descriptors || threads > other.threads ||
               heap > other.heap + kHeapGrowth;
    }
};

void expect_no_more_than(const Use& before) {
    const it::Deadline deadline;
    for (Use now; now.exceeds(before); now = Use()) {
        if (deadline.passed()) {
            FAIL("%d descriptors, %d threads and %zu bytes, were %d, %d and %zu", now.descriptors,
                 now.threads, now.heap, before.descriptors, before.threads, before.heap);
        }
        it::sleep_ms(20);
    }
}

template <class Round>
void repeat(int rounds, const Round& round) {
    for (int count = 0; count < kWarmUp; ++count) {
        round();
    }
    const Use before;
    for (int count = kWarmUp; count < rounds; ++count) {
        round();
    }
    if (const std::size_t heap = it::heap_bytes(); heap > before.heap + kHeapGrowthMeanwhile) {
        FAIL("%zu bytes just after the last of %d connections, were %zu", heap, rounds,
             before.heap);
    }
    expect_no_more_than(before);
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    repeat(rounds_of(role), [&] {
        const it::Region region(peer.get(), 4096, it::kUsualUsage);
        const it::Connection connection =
            it::accept(endpoint.get(), nullptr, it::describe(region.mr()));
        it::expect_closed(connection.get());
    });
}

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    role.peer().await("listening");
    repeat(rounds_of(role), [&] {
        const it::Region local(peer.get(), 4096, it::kUsualUsage);
        const it::Connection connection = it::establish(it::new_request(role, peer.get()));
        const it::RemoteMr remote = it::remote_region(it::private_data(connection.get()));
        CHECK_OK(rpma_write(connection.get(), remote.get(), 0, local.mr(), 0, 4096,
                            RPMA_F_COMPLETION_ALWAYS, nullptr));
        it::expect_done(connection.get(), IBV_WC_RDMA_WRITE, nullptr);
        it::disconnect(connection.get());
    });
}
