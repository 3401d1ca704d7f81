// SPDX-License-Identifier: BSD-3-Clause
// Immediate data: comes in network order, with and without payload; a write with it uses up one
// posted receive.
#include <arpa/inet.h>

#include <array>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::uint32_t kImmediate = 0x12345678;
constexpr std::size_t kSpace = 8192;
constexpr std::array<std::size_t, 4> kSizes = {0, 1, 8, 5000};

void expect_immediate(const ibv_wc& wc, std::size_t size) {
    CHECK((wc.wc_flags & IBV_WC_WITH_IMM) != 0);
    CHECK_EQ(ntohl(wc.imm_data), kImmediate);
    CHECK_EQ(wc.byte_len, size);
}

void receive_send(it::Role& role, const it::Served& served, std::size_t size) {
    rpma_conn* connection = served.connection.get();
    CHECK_OK(rpma_recv(connection, served.region.mr(), 0, kSpace, it::context(7)));
    role.peer().signal("receive posted");
    expect_immediate(it::expect_done(connection, IBV_WC_RECV, it::context(7)), size);
    it::check_filled(served.region.bytes(0, size), size);
}

void receive_write(it::Role& role, const it::Served& served, std::size_t size) {
    rpma_conn* connection = served.connection.get();
    CHECK_OK(rpma_recv(connection, nullptr, 0, 0, it::context(8)));
    role.peer().signal("receive posted");
    expect_immediate(it::expect_done(connection, IBV_WC_RECV_RDMA_WITH_IMM, it::context(8)), size);
    it::check_filled(served.region.bytes(16, size), size + 1);
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kSpace);
    for (const std::size_t size : kSizes) {
        receive_send(role, served, size);
        receive_write(role, served, size);
    }
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kSpace);
    for (const std::size_t size : kSizes) {
        role.peer().await("receive posted");
        it::fill(attached.local.bytes(0, size), size);
        CHECK_OK(rpma_send_with_imm(attached.conn(), attached.local.mr(), 0, size,
                                    RPMA_F_COMPLETION_ALWAYS, kImmediate, it::context(1)));
        it::expect_done(attached.conn(), IBV_WC_SEND, it::context(1));
        role.peer().await("receive posted");
        it::fill(attached.local.bytes(0, size), size + 1);
        CHECK_OK(rpma_write_with_imm(attached.conn(), attached.remote.get(), 16,
                                     attached.local.mr(), 0, size, RPMA_F_COMPLETION_ALWAYS,
                                     kImmediate, it::context(2)));
        it::expect_done(attached.conn(), IBV_WC_RDMA_WRITE, it::context(2));
    }
    it::disconnect(attached.conn());
}
