// SPDX-License-Identifier: BSD-3-Clause
// A flush at the very end of a region, and of a region smaller than a word, stays inside it: the
// connection lives on. A flush beyond the region is refused before it is posted.
#include "common/session.hpp"

namespace {

constexpr std::size_t kSmall = 4;
constexpr std::size_t kLarge = 4096;

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region small(peer.get(), kSmall, it::kUsualUsage);
    const it::Region large(peer.get(), kLarge, it::kUsualUsage);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    const it::Connection connection = it::accept(endpoint.get());
    role.peer().give("small", it::describe(small.mr()));
    role.peer().give("large", it::describe(large.mr()));
    it::expect_closed(connection.get());
}

namespace {

void flush(rpma_conn* connection, rpma_mr_remote* remote, std::size_t offset, std::size_t size) {
    CHECK_OK(rpma_flush(connection, remote, offset, size, RPMA_FLUSH_TYPE_VISIBILITY,
                        RPMA_F_COMPLETION_ALWAYS, it::context(offset)));
    const ibv_wc wc = it::next_completion(it::main_cq(connection));
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.wr_id, offset);
}

void refuse(rpma_conn* connection, rpma_mr_remote* remote, std::size_t offset, std::size_t size) {
    CHECK_CODE(rpma_flush(connection, remote, offset, size, RPMA_FLUSH_TYPE_VISIBILITY,
                          RPMA_F_COMPLETION_ALWAYS, nullptr),
               RPMA_E_INVAL);
    it::expect_none(it::main_cq(connection));
}

}  // namespace

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const it::Connection connection = it::connect(role, peer.get());
    const it::RemoteMr small = it::remote_region(role.peer().take<it::Descriptor>("small"));
    const it::RemoteMr large = it::remote_region(role.peer().take<it::Descriptor>("large"));
    flush(connection.get(), small.get(), 0, kSmall);
    flush(connection.get(), small.get(), 1, kSmall - 1);
    flush(connection.get(), large.get(), kLarge - 1, 1);
    flush(connection.get(), large.get(), 0, kLarge);
    refuse(connection.get(), large.get(), kLarge - 1, 2);
    refuse(connection.get(), large.get(), SIZE_MAX, 2);
    flush(connection.get(), large.get(), 8, 8);
    it::disconnect(connection.get());
}
