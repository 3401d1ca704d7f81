// SPDX-License-Identifier: BSD-3-Clause
// Connecting and disconnecting again and again leaves no descriptor, thread or region behind, on
// either side.
#include <filesystem>

#include "common/session.hpp"

namespace {

constexpr int kRounds = 100;
constexpr int kWarmUp = 5;

int count_threads() {
    int count = 0;
    for ([[maybe_unused]] const auto& task :
         std::filesystem::directory_iterator("/proc/self/task")) {
        ++count;
    }
    return count;
}

struct Use {
    int descriptors = it::count_descriptors();
    int threads = count_threads();
};

void expect_no_more_than(const Use& before) {
    const it::Deadline deadline;
    for (Use now; now.descriptors > before.descriptors || now.threads > before.threads;
         now = Use()) {
        if (deadline.passed()) {
            FAIL("%d descriptors and %d threads, were %d and %d", now.descriptors, now.threads,
                 before.descriptors, before.threads);
        }
        it::sleep_ms(20);
    }
}

template <class Round>
void repeat(const Round& round) {
    for (int count = 0; count < kWarmUp; ++count) {
        round();
    }
    const Use before;
    for (int count = kWarmUp; count < kRounds; ++count) {
        round();
    }
    expect_no_more_than(before);
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    repeat([&] {
        const it::Region region(peer.get(), 4096, it::kUsualUsage);
        const it::Connection connection =
            it::accept(endpoint.get(), nullptr, it::describe(region.mr()));
        it::expect_closed(connection.get());
    });
}

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    role.peer().await("listening");
    repeat([&] {
        const it::Region local(peer.get(), 4096, it::kUsualUsage);
        const it::Connection connection = it::establish(it::new_request(role, peer.get()));
        const it::RemoteMr remote = it::remote_region(it::private_data(connection.get()));
        CHECK_OK(rpma_write(connection.get(), remote.get(), 0, local.mr(), 0, 4096,
                            RPMA_F_COMPLETION_ALWAYS, nullptr));
        it::expect_done(connection.get(), IBV_WC_RDMA_WRITE, nullptr);
        it::disconnect(connection.get());
    });
}
