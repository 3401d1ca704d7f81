// SPDX-License-Identifier: BSD-3-Clause
// One completion channel for both queues of a connection: rpma_conn_wait() tells which queue has
// news; the calls that belong to channels of their own refuse.
#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = 512;
const it::Sizes kShared{.cq = 10, .sq = 10, .rq = 10, .rcq = 10, .shared_channel = true};

// Waits until one of the two queues gives a completion.
ibv_wc wait_for(rpma_conn* connection, bool from_receives) {
    int fd = -1;
    CHECK_OK(rpma_conn_get_compl_fd(connection, &fd));
    const it::Deadline deadline;
    ibv_wc wc{};
    int code = RPMA_E_NO_COMPLETION;
    while (code ==
           RPMA_E_NO_COMPLETION) {  // an event may come for a completion that was taken already
        CHECK(it::wait_readable(fd, deadline));
        rpma_cq* cq = nullptr;
        bool is_rcq = !from_receives;
        CHECK_OK(rpma_conn_wait(connection, 0, &cq, &is_rcq));
        CHECK(cq == (is_rcq ? it::receive_cq(connection) : it::main_cq(connection)));
        code = rpma_cq_get_wc(cq, 1, &wc, nullptr);
        CHECK(code != 0 || is_rcq == from_receives);
    }
    CHECK_OK(code);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    return wc;
}

void refuses_single_waits(rpma_conn* connection) {
    CHECK_CODE(rpma_cq_wait(it::main_cq(connection)), RPMA_E_SHARED_CHANNEL);
    CHECK_CODE(rpma_cq_wait(it::receive_cq(connection)), RPMA_E_SHARED_CHANNEL);
    int main_fd = -1;
    int receive_fd = -1;
    int connection_fd = -1;
    CHECK_OK(rpma_cq_get_fd(it::main_cq(connection), &main_fd));
    CHECK_OK(rpma_cq_get_fd(it::receive_cq(connection), &receive_fd));
    CHECK_OK(rpma_conn_get_compl_fd(connection, &connection_fd));
    CHECK_EQ(main_fd, connection_fd);
    CHECK_EQ(receive_fd, connection_fd);
}

}  // namespace

void server(it::Role& role) {
    const it::ConnCfg cfg = it::configure(kShared);
    const it::Served served = it::serve(role, kSize, it::kUsualUsage, cfg.get());
    rpma_conn* connection = served.connection.get();
    refuses_single_waits(connection);
    for (std::uint64_t round = 0; round < 20; ++round) {
        CHECK_OK(rpma_recv(connection, served.region.mr(), 0, kSize, it::context(round)));
        role.peer().signal("receive posted");
        CHECK_EQ(wait_for(connection, true).wr_id, round);
        CHECK_OK(rpma_send(connection, served.region.mr(), 0, kSize, RPMA_F_COMPLETION_ALWAYS,
                           it::context(round)));
        CHECK_EQ(wait_for(connection, false).wr_id, round);
    }
    it::expect_closed(connection);
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kSize);
    int fd = -1;
    rpma_cq* cq = nullptr;
    CHECK_CODE(rpma_conn_get_compl_fd(attached.conn(), &fd), RPMA_E_NOT_SHARED_CHNL);
    CHECK_CODE(rpma_conn_wait(attached.conn(), 0, &cq, nullptr), RPMA_E_NOT_SHARED_CHNL);
    for (std::uint64_t round = 0; round < 20; ++round) {
        role.peer().await("receive posted");
        CHECK_OK(rpma_recv(attached.conn(), attached.local.mr(), 0, kSize, it::context(100)));
        CHECK_OK(rpma_send(attached.conn(), attached.local.mr(), 0, kSize,
                           RPMA_F_COMPLETION_ON_ERROR, nullptr));
        it::expect_done(attached.conn(), IBV_WC_RECV, it::context(100));
        if (round % 5 == 4) {
            attached.flush(0, 8);  // gives the send queue's slots back
        }
    }
    it::disconnect(attached.conn());
}
