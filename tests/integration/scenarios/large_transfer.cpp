// SPDX-License-Identifier: BSD-3-Clause
// 64 MiB in one write and back in one read, then the same amount in pieces that fill the send
// queue.
#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = std::size_t{64} << 20U;
constexpr std::size_t kPiece = std::size_t{1} << 20U;
constexpr std::size_t kPieces = kSize / kPiece;

void write_in_pieces(const it::Attached& attached) {
    for (std::size_t piece = 0; piece < kPieces; ++piece) {
        if (piece >= 8) {
            it::expect_done(attached.conn(), IBV_WC_RDMA_WRITE, it::context(piece - 8));
        }
        CHECK_OK(rpma_write(attached.conn(), attached.remote.get(), piece * kPiece,
                            attached.local.mr(), piece * kPiece, kPiece, RPMA_F_COMPLETION_ALWAYS,
                            it::context(piece)));
    }
    for (std::size_t piece = kPieces - 8; piece < kPieces; ++piece) {
        it::expect_done(attached.conn(), IBV_WC_RDMA_WRITE, it::context(piece));
    }
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kSize);
    for (const std::uint64_t seed : {1U, 2U}) {
        role.peer().await("written");
        it::check_filled(served.region.bytes(), seed);
        role.peer().signal("checked");
    }
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kSize);
    it::fill(attached.local.bytes(), 1);
    attached.write(0, 0, kSize);
    attached.flush(0, kSize);
    role.peer().signal("written");
    std::fill(attached.local.bytes().begin(), attached.local.bytes().end(), std::byte{0});
    attached.read(0, 0, kSize);
    it::check_filled(attached.local.bytes(), 1);
    role.peer().await("checked");

    it::fill(attached.local.bytes(), 2);
    write_in_pieces(attached);
    attached.flush(0, kSize);
    role.peer().signal("written");
    role.peer().await("checked");
    it::disconnect(attached.conn());
}
