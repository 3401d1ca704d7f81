// SPDX-License-Identifier: BSD-3-Clause
// A region whose usage is a flush and nothing else. Argument: "works", or "refused" where the
// library of one side lets the flush end in a remote access error.
#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = 4096;

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kSize, RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
    it::expect_closed_or_lost(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kSize);
    CHECK_OK(rpma_flush(attached.conn(), attached.remote.get(), 0, kSize,
                        RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS, nullptr));
    const ibv_wc wc = it::next_completion(it::main_cq(attached.conn()));
    CHECK_EQ(wc.status, role.has_argument("works") ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
    CHECK_OK(rpma_conn_disconnect(attached.conn()));
    it::expect_closed_or_lost(attached.conn());
}
