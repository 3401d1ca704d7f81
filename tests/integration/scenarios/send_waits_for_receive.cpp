// SPDX-License-Identifier: BSD-3-Clause
// A send to a peer that has posted no receive waits, without an error and without hindering what
// goes the other way; once the receive is posted, everything behind it arrives in order.
#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {
constexpr std::size_t kSize = 1024;
constexpr std::uint64_t kSends = 4;
}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), kSize * kSends, it::kUsualUsage);
    const it::Region source(peer.get(), kSize, it::kUsualUsage);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    const it::Connection connection =
        it::accept(endpoint.get(), nullptr, it::describe(region.mr()));
    const it::RemoteMr clients =
        it::remote_region(role.peer().take<it::Descriptor>("sends posted"));
    it::fill(source.bytes(), 50);
    for (int round = 0; round < 20; ++round) {
        CHECK_OK(rpma_write(connection.get(), clients.get(), 0, source.mr(), 0, kSize,
                            RPMA_F_COMPLETION_ALWAYS, it::context(1)));
        it::expect_done(connection.get(), IBV_WC_RDMA_WRITE, it::context(1));
        CHECK_OK(rpma_read(connection.get(), source.mr(), 0, clients.get(), 0, kSize,
                           RPMA_F_COMPLETION_ALWAYS, it::context(2)));
        it::expect_done(connection.get(), IBV_WC_RDMA_READ, it::context(2));
    }
    it::sleep_ms(300);
    role.peer().signal("nothing must have completed");
    role.peer().await("nothing has");
    for (std::uint64_t number = 0; number < kSends; ++number) {
        CHECK_OK(
            rpma_recv(connection.get(), region.mr(), number * kSize, kSize, it::context(number)));
        it::expect_done(connection.get(), IBV_WC_RECV, it::context(number));
        it::check_filled(region.bytes(number * kSize, kSize), number);
        it::sleep_ms(20);
    }
    it::expect_closed(connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kSize * kSends);
    const it::Region target(attached.peer.get(), kSize, it::kUsualUsage);
    for (std::uint64_t number = 0; number < kSends; ++number) {
        it::fill(attached.local.bytes(number * kSize, kSize), number);
        CHECK_OK(rpma_send(attached.conn(), attached.local.mr(), number * kSize, kSize,
                           RPMA_F_COMPLETION_ALWAYS, it::context(number)));
    }
    role.peer().give("sends posted", it::describe(target.mr()));
    role.peer().await("nothing must have completed");
    it::expect_none(it::main_cq(attached.conn()));
    it::check_filled(target.bytes(), 50);
    role.peer().signal("nothing has");
    for (std::uint64_t number = 0; number < kSends; ++number) {
        it::expect_done(attached.conn(), IBV_WC_SEND, it::context(number));
    }
    it::disconnect(attached.conn());
}
