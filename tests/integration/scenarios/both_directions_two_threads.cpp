// SPDX-License-Identifier: BSD-3-Clause
// Both sides write, read and send at once, each with one thread that posts and one that polls.
#include <semaphore>
#include <thread>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kPiece = 20000;
constexpr std::uint64_t kOperations = 2000;
constexpr std::ptrdiff_t kDepth = 8;
// Seeds of what lies in whose memory at the start.
constexpr std::uint64_t kServerSource = 1000;
constexpr std::uint64_t kServerTarget = 2000;
constexpr std::uint64_t kClientSource = 3000;
constexpr std::uint64_t kClientTarget = 4000;

struct Side {
    rpma_conn* connection;
    rpma_mr_local* local;
    rpma_mr_remote* remote;
};

void post_one(const Side& side, std::uint64_t number) {
    const std::size_t place = number % kDepth * kPiece;
    if (number % 2 == 0) {
        CHECK_OK(rpma_write(side.connection, side.remote, place, side.local, place, kPiece,
                            RPMA_F_COMPLETION_ALWAYS, it::context(number)));
    } else {
        CHECK_OK(rpma_read(side.connection, side.local, place, side.remote, place, kPiece,
                           RPMA_F_COMPLETION_ALWAYS, it::context(number)));
    }
}

// Even slots of the local region are written to the other side, odd ones are filled by reads of its
// memory.
void fill_slots(const it::Region& region, std::uint64_t seed) {
    for (std::size_t slot = 0; slot < kDepth; ++slot) {
        it::fill(region.bytes(slot * kPiece, kPiece), seed + slot);
    }
}

void check_slots(const it::Region& region, std::size_t first, std::uint64_t seed) {
    for (std::size_t slot = first; slot < kDepth; slot += 2) {
        it::check_filled(region.bytes(slot * kPiece, kPiece), seed + slot);
    }
}

// Completions come in the order of posting.
void post_and_poll(const Side& side) {
    std::counting_semaphore<kDepth> slots(kDepth);
    std::thread poster([&] {
        for (std::uint64_t number = 0; number < kOperations; ++number) {
            slots.acquire();
            post_one(side, number);
        }
    });
    for (std::uint64_t number = 0; number < kOperations; ++number) {
        it::expect_done(side.connection, number % 2 == 0 ? IBV_WC_RDMA_WRITE : IBV_WC_RDMA_READ,
                        it::context(number));
        slots.release();
    }
    poster.join();
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kPiece * kDepth);
    const it::Region source(served.peer.get(), kPiece * kDepth, it::kUsualUsage);
    const it::RemoteMr remote = it::remote_region(role.peer().take<it::Descriptor>("region"));
    fill_slots(source, kServerSource);
    fill_slots(served.region, kServerTarget);
    role.peer().signal("start");
    post_and_poll({served.connection.get(), source.mr(), remote.get()});
    role.peer().signal("done");
    role.peer().await("done");
    check_slots(source, 1, kClientTarget);
    check_slots(served.region, 0, kClientSource);
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kPiece * kDepth);
    const it::Region target(attached.peer.get(), kPiece * kDepth, it::kUsualUsage);
    fill_slots(attached.local, kClientSource);
    fill_slots(target, kClientTarget);
    role.peer().give("region", it::describe(target.mr()));
    role.peer().await("start");
    post_and_poll({attached.conn(), attached.local.mr(), attached.remote.get()});
    role.peer().signal("done");
    role.peer().await("done");
    check_slots(attached.local, 1, kServerTarget);
    check_slots(target, 0, kServerSource);
    it::disconnect(attached.conn());
}
