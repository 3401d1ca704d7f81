// SPDX-License-Identifier: BSD-3-Clause
// A region of ordinary memory, registered without the persistence usage: its persistent flush is
// refused before anything is posted, whatever the peers have declared; the connection goes on.
#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = 4096;

void expect_no_flush(const it::Attached& attached) {
    CHECK_CODE(rpma_flush(attached.conn(), attached.remote.get(), 0, kSize,
                          RPMA_FLUSH_TYPE_PERSISTENT, RPMA_F_COMPLETION_ALWAYS, nullptr),
               RPMA_E_NOSUPP);
    it::expect_none(it::main_cq(attached.conn()));
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kSize);
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kSize);
    expect_no_flush(attached);
    it::declare_direct_write(attached.conn());
    expect_no_flush(attached);
    attached.write(0, 0, kSize);
    attached.flush(0, kSize);
    it::disconnect(attached.conn());
}
