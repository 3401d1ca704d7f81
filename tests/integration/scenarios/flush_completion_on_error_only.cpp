// SPDX-License-Identifier: BSD-3-Clause
// A flush that asks for a completion on error only makes none when it succeeds.
#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {
constexpr std::size_t kSize = 4096;
}

void server(it::Role& role) {
    const it::Served served = it::serve(role, kSize);
    role.peer().await("flushed");
    it::check_filled(served.region.bytes(), 5);
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kSize);
    rpma_mr_remote* remote = attached.remote.get();
    const auto visibility = RPMA_FLUSH_TYPE_VISIBILITY;
    it::fill(attached.local.bytes(), 5);
    CHECK_CODE(rpma_flush(attached.conn(), remote, 0, kSize, visibility, 0, nullptr), RPMA_E_INVAL);
    CHECK_OK(rpma_write(attached.conn(), remote, 0, attached.local.mr(), 0, kSize,
                        RPMA_F_COMPLETION_ON_ERROR, nullptr));
    CHECK_OK(rpma_flush(attached.conn(), remote, 0, kSize, visibility, RPMA_F_COMPLETION_ON_ERROR,
                        it::context(1)));
    CHECK_OK(rpma_flush(attached.conn(), remote, 0, kSize, visibility, RPMA_F_COMPLETION_ALWAYS,
                        it::context(2)));
    const ibv_wc wc = it::next_completion(it::main_cq(attached.conn()));
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.wr_id, 2);
    it::expect_none(it::main_cq(attached.conn()));
    role.peer().signal("flushed");
    it::disconnect(attached.conn());
}
