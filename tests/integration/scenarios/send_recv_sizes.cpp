// SPDX-License-Identifier: BSD-3-Clause
// Sends of sizes around the packet size into receives that are larger: byte_len is what was sent,
// nothing else is changed.
#include <array>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::array<std::size_t, 13> kSizes = {
    1, 7, 8, 4095, 4096, 4097, 8192, 32767, 32768, 32769, 65536, 65537, (1U << 20U) + 1};
constexpr std::size_t kSpace = kSizes.back() + 64;
constexpr std::byte kUntouched{0xdd};

void receive(it::Role& role, rpma_conn* connection, const it::Region& region, std::size_t size) {
    std::fill(region.bytes().begin(), region.bytes().end(), kUntouched);
    CHECK_OK(rpma_recv(connection, region.mr(), 0, kSpace, it::context(size)));
    role.peer().signal("receive posted");
    const ibv_wc wc = it::expect_done(connection, IBV_WC_RECV, it::context(size));
    CHECK_EQ(wc.byte_len, size);
    CHECK_EQ(wc.wc_flags & IBV_WC_WITH_IMM, 0);
    it::check_filled(region.bytes(0, size), size);
    it::check_all(region.bytes(size, kSpace - size), kUntouched);
}

void send(it::Role& role, rpma_conn* connection, const it::Region& region, std::size_t size) {
    it::fill(region.bytes(3, size), size);
    role.peer().await("receive posted");
    CHECK_OK(
        rpma_send(connection, region.mr(), 3, size, RPMA_F_COMPLETION_ALWAYS, it::context(size)));
    it::expect_done(connection, IBV_WC_SEND, it::context(size));
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kSpace);
    for (const std::size_t size : kSizes) {
        receive(role, served.connection.get(), served.region, size);
        send(role, served.connection.get(), served.region, size);
    }
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kSpace);
    for (const std::size_t size : kSizes) {
        send(role, attached.conn(), attached.local, size);
        receive(role, attached.conn(), attached.local, size);
    }
    it::disconnect(attached.conn());
}
