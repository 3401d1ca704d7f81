// SPDX-License-Identifier: BSD-3-Clause
// Operations of zero bytes: with no region at all, and with regions, at their very end.
#include "common/session.hpp"

namespace {

constexpr std::size_t kSpace = 4096;

// Each is posted by the client only.
void without_regions(rpma_conn* connection) {
    CHECK_OK(rpma_write(connection, nullptr, 0, nullptr, 0, 0, RPMA_F_COMPLETION_ALWAYS,
                        it::context(1)));
    it::expect_done(connection, IBV_WC_RDMA_WRITE, it::context(1));
    CHECK_OK(
        rpma_read(connection, nullptr, 0, nullptr, 0, 0, RPMA_F_COMPLETION_ALWAYS, it::context(2)));
    it::expect_done(connection, IBV_WC_RDMA_READ, it::context(2));
}

void at_the_end_of_regions(const it::Attached& attached) {
    attached.write(kSpace, kSpace, 0);
    attached.read(kSpace, kSpace, 0);
}

void refuses_half_a_pair(const it::Attached& attached) {
    rpma_conn* connection = attached.conn();
    const int flags = RPMA_F_COMPLETION_ALWAYS;
    rpma_mr_local* local = attached.local.mr();
    rpma_mr_remote* remote = attached.remote.get();
    CHECK_CODE(rpma_write(connection, remote, 0, nullptr, 0, 0, flags, nullptr), RPMA_E_INVAL);
    CHECK_CODE(rpma_write(connection, nullptr, 0, local, 0, 0, flags, nullptr), RPMA_E_INVAL);
    CHECK_CODE(rpma_write(connection, nullptr, 8, nullptr, 0, 0, flags, nullptr), RPMA_E_INVAL);
    CHECK_CODE(rpma_write(connection, nullptr, 0, nullptr, 0, 8, flags, nullptr), RPMA_E_INVAL);
    CHECK_CODE(rpma_read(connection, local, 0, nullptr, 0, 0, flags, nullptr), RPMA_E_INVAL);
    CHECK_CODE(rpma_read(connection, nullptr, 0, remote, 0, 0, flags, nullptr), RPMA_E_INVAL);
    CHECK_CODE(rpma_send(connection, nullptr, 0, 8, flags, nullptr), RPMA_E_INVAL);
    CHECK_CODE(rpma_recv(connection, nullptr, 8, 0, nullptr), RPMA_E_INVAL);
    it::expect_none(it::main_cq(connection));
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kSpace);
    CHECK_OK(rpma_recv(served.connection.get(), nullptr, 0, 0, it::context(5)));
    CHECK_OK(rpma_recv(served.connection.get(), served.region.mr(), kSpace, 0, it::context(6)));
    role.peer().signal("receives posted");
    CHECK_EQ(it::expect_done(served.connection.get(), IBV_WC_RECV, it::context(5)).byte_len, 0);
    CHECK_EQ(it::expect_done(served.connection.get(), IBV_WC_RECV, it::context(6)).byte_len, 0);
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kSpace);
    without_regions(attached.conn());
    at_the_end_of_regions(attached);
    refuses_half_a_pair(attached);
    role.peer().await("receives posted");
    CHECK_OK(rpma_send(attached.conn(), nullptr, 0, 0, RPMA_F_COMPLETION_ALWAYS, it::context(3)));
    it::expect_done(attached.conn(), IBV_WC_SEND, it::context(3));
    CHECK_OK(rpma_send(attached.conn(), attached.local.mr(), kSpace, 0, RPMA_F_COMPLETION_ALWAYS,
                       it::context(4)));
    it::expect_done(attached.conn(), IBV_WC_SEND, it::context(4));
    it::disconnect(attached.conn());
}
