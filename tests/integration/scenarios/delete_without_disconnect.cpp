// SPDX-License-Identifier: BSD-3-Clause
// Deleting a connection without disconnecting it first: the other side learns of it.
#include "common/session.hpp"

void server(it::Role& role) {
    const it::Served served = it::serve(role, 4096);
    it::expect_closed_or_lost(served.connection.get());
}

void client(it::Role& role) {
    it::Attached attached = it::attach(role, 4096);
    attached.write(0, 0, 4096);
    attached.connection.reset();
}
