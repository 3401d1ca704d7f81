// SPDX-License-Identifier: BSD-3-Clause
// Closing from one side, from both at once, and without an answer: both sides learn of it, a second
// disconnect is no error, deleting works. Argument: "client" closes and the server answers with a
// disconnect; "both"; "silent": the server only deletes.
#include "common/session.hpp"

namespace {

// The end of the transport's waiting time is reported as CLOSED once more, or not at all; no other
// event follows.
void only_closed_events_follow(rpma_conn* connection) {
    int fd = -1;
    CHECK_OK(rpma_conn_get_event_fd(connection, &fd));
    while (it::wait_readable(fd, it::Deadline(std::chrono::milliseconds(200)))) {
        rpma_conn_event event = RPMA_CONN_CLOSED;
        const int code = rpma_conn_next_event(connection, &event);
        CHECK(code == RPMA_E_NO_EVENT || (code == 0 && event == RPMA_CONN_CLOSED));
    }
}

void close_from_both_sides(it::Role& role, rpma_conn* connection) {
    role.peer().signal("ready to close");
    role.peer().await("ready to close");
    CHECK_OK(rpma_conn_disconnect(connection));
    it::expect_closed(connection);
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, 4096);
    rpma_conn* connection = served.connection.get();
    if (role.has_argument("both")) {
        close_from_both_sides(role, connection);
    } else {
        it::expect_closed(connection);
    }
    if (!role.has_argument("silent")) {
        CHECK_OK(rpma_conn_disconnect(connection));
        only_closed_events_follow(connection);
    }
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, 4096);
    if (role.has_argument("both")) {
        close_from_both_sides(role, attached.conn());
    } else {
        it::disconnect(attached.conn());
    }
    only_closed_events_follow(attached.conn());
}
