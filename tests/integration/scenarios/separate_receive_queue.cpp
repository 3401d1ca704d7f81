// SPDX-License-Identifier: BSD-3-Clause
// A receive completion queue of its own: receives end there and only there, sends and writes in the
// main queue.
#include "common/session.hpp"

namespace {
constexpr std::size_t kSize = 512;
const it::Sizes kWithRcq{.cq = 10, .sq = 10, .rq = 10, .rcq = 10, .shared_channel = false};
}  // namespace

void server(it::Role& role) {
    const it::ConnCfg cfg = it::configure(kWithRcq);
    const it::Served served = it::serve(role, kSize, it::kUsualUsage, cfg.get());
    rpma_conn* connection = served.connection.get();
    rpma_cq* rcq = it::receive_cq(connection);
    CHECK(rcq != nullptr && rcq != it::main_cq(connection));
    CHECK_OK(rpma_recv(connection, served.region.mr(), 0, kSize, it::context(1)));
    role.peer().signal("receive posted");
    it::expect_done(rcq, IBV_WC_RECV, it::context(1));
    it::expect_none(it::main_cq(connection));
    role.peer().await("echo wanted");
    CHECK_OK(rpma_send(connection, served.region.mr(), 0, kSize, RPMA_F_COMPLETION_ALWAYS,
                       it::context(2)));
    it::expect_done(connection, IBV_WC_SEND, it::context(2));
    it::expect_none(rcq);
    it::expect_closed(connection);
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kSize);
    CHECK(it::receive_cq(attached.conn()) == nullptr);  // none asked for on this side
    role.peer().await("receive posted");
    CHECK_OK(rpma_send(attached.conn(), attached.local.mr(), 0, kSize, RPMA_F_COMPLETION_ALWAYS,
                       it::context(1)));
    it::expect_done(attached.conn(), IBV_WC_SEND, it::context(1));
    CHECK_OK(rpma_recv(attached.conn(), attached.local.mr(), 0, kSize, it::context(2)));
    role.peer().signal("echo wanted");
    it::expect_done(attached.conn(), IBV_WC_RECV, it::context(2));
    it::disconnect(attached.conn());
}
