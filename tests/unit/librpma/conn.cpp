// SPDX-License-Identifier: BSD-3-Clause
// Connections: events, private data, getters, closing.
#include <cerrno>

#include "harness.hpp"

namespace {

using fake::world;

struct Connected {
    rpma_peer* peer = harness::make_peer();
    rpma_conn* conn = harness::make_connection(peer);
    fake::Id* id = fake::last_id();

    ~Connected() {
        rpma_conn_delete(&conn);
        rpma_peer_delete(&peer);
    }
    [[nodiscard]] rpma_conn_event take() const {
        rpma_conn_event event = RPMA_CONN_UNDEFINED;
        EXPECT_OK(rpma_conn_next_event(conn, &event));
        return event;
    }
};

void events_are_translated(void**) {
    const struct {
        rdma_cm_event_type from;
        rpma_conn_event to;
    } rows[] = {
        {RDMA_CM_EVENT_ESTABLISHED, RPMA_CONN_ESTABLISHED},
        {RDMA_CM_EVENT_CONNECT_ERROR, RPMA_CONN_LOST},
        {RDMA_CM_EVENT_DEVICE_REMOVAL, RPMA_CONN_LOST},
        {RDMA_CM_EVENT_DISCONNECTED, RPMA_CONN_CLOSED},
        {RDMA_CM_EVENT_TIMEWAIT_EXIT, RPMA_CONN_CLOSED},
        {RDMA_CM_EVENT_REJECTED, RPMA_CONN_REJECTED},
        {RDMA_CM_EVENT_UNREACHABLE, RPMA_CONN_UNREACHABLE},
    };
    for (const auto& row : rows) {
        const Connected c;
        fake::push_event(c.id, row.from);
        assert_int_equal(c.take(), row.to);
        assert_int_equal(world.live["event"], 0);
    }
}

void other_events_have_no_counterpart(void**) {
    const Connected c;
    for (const auto type :
         {RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_RESOLVED,
          RDMA_CM_EVENT_ROUTE_ERROR, RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_CONNECT_RESPONSE,
          RDMA_CM_EVENT_MULTICAST_JOIN, RDMA_CM_EVENT_MULTICAST_ERROR, RDMA_CM_EVENT_ADDR_CHANGE}) {
        fake::push_event(c.id, type, 3);
        rpma_conn_event event = RPMA_CONN_LOST;
        EXPECT_FAILS(RPMA_E_UNKNOWN, rpma_conn_next_event(c.conn, &event), "status 3");
        assert_int_equal(event, RPMA_CONN_LOST);
        assert_int_equal(world.live["event"], 0);
    }
}

void closing_is_reported_once(void**) {
    for (const auto first : {RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_TIMEWAIT_EXIT}) {
        for (const auto second : {RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_TIMEWAIT_EXIT}) {
            const Connected c;
            fake::push_event(c.id, first);
            fake::push_event(c.id, second);
            assert_int_equal(c.take(), RPMA_CONN_CLOSED);
            rpma_conn_event event = RPMA_CONN_LOST;
            assert_int_equal(rpma_conn_next_event(c.conn, &event), RPMA_E_NO_EVENT);
            assert_int_equal(event, RPMA_CONN_LOST);
            assert_int_equal(errno, EAGAIN);
            assert_int_equal(world.live["event"], 0);
            assert_int_equal(harness::lines.size(), 0);
        }
    }
}

void no_event_is_no_fault(void**) {
    const Connected c;
    rpma_conn_event event = RPMA_CONN_LOST;
    for (const int err : {EAGAIN, EWOULDBLOCK, ENODATA, EINTR}) {
        world.fail("rdma_get_cm_event", 1, err);
        assert_int_equal(rpma_conn_next_event(c.conn, &event), RPMA_E_NO_EVENT);
        assert_int_equal(errno, err);
    }
    assert_int_equal(harness::lines.size(), 0);
    world.fail("rdma_get_cm_event", 1, EBADF);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_next_event(c.conn, &event), "EBADF");
    assert_int_equal(event, RPMA_CONN_LOST);
}

void events_are_logged_with_their_cause(void**) {
    const Connected c;
    harness::capture(RPMA_LOG_LEVEL_NOTICE);
    fake::push_event(c.id, RDMA_CM_EVENT_REJECTED, 8);
    assert_int_equal(c.take(), RPMA_CONN_REJECTED);
    assert_int_equal(harness::lines.size(), 1);
    assert_string_equal(harness::lines[0].function.c_str(), "rpma_conn_next_event");
    assert_true(harness::lines[0].text.find("Connection rejected") != std::string::npos);
    assert_true(harness::lines[0].text.find("status 8: nobody listens") != std::string::npos);
}

void private_data_come_with_the_first_established_event(void**) {
    const Connected c;
    rpma_conn_private_data data = {&data, 9};
    EXPECT_OK(rpma_conn_get_private_data(c.conn, &data));
    assert_null(data.ptr);
    assert_int_equal(data.len, 0);
    fake::push_event(c.id, RDMA_CM_EVENT_REJECTED, 28, "no");
    (void)c.take();
    EXPECT_OK(rpma_conn_get_private_data(c.conn, &data));
    assert_null(data.ptr);
    fake::push_event(c.id, RDMA_CM_EVENT_ESTABLISHED, 0, std::string(255, 'x'));
    fake::push_event(c.id, RDMA_CM_EVENT_ESTABLISHED, 0, "later");
    (void)c.take();
    (void)c.take();
    EXPECT_OK(rpma_conn_get_private_data(c.conn, &data));
    assert_int_equal(data.len, 255);
    assert_memory_equal(data.ptr, std::string(255, 'x').data(), 255);
}

void private_data_survive_a_failed_acknowledgement(void**) {
    const Connected c;
    fake::push_event(c.id, RDMA_CM_EVENT_ESTABLISHED, 0, "hello");
    world.fail("rdma_ack_cm_event", 1, EINVAL);
    rpma_conn_event event = RPMA_CONN_LOST;
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_next_event(c.conn, &event), "rdma_ack_cm_event");
    assert_int_equal(event, RPMA_CONN_LOST);
    rpma_conn_private_data data = {};
    EXPECT_OK(rpma_conn_get_private_data(c.conn, &data));
    assert_int_equal(data.len, 5);
}

void getters_tell_about_the_connection(void**) {
    const Connected c;
    uint32_t number = 0;
    EXPECT_OK(rpma_conn_get_qp_num(c.conn, &number));
    assert_int_equal(number, 0x1234);
    int fd = -1;
    EXPECT_OK(rpma_conn_get_event_fd(c.conn, &fd));
    assert_int_equal(fd, c.id->channel->fd);
    rpma_cq* cq = nullptr;
    EXPECT_OK(rpma_conn_get_cq(c.conn, &cq));
    assert_non_null(cq);
}

void disconnecting_can_be_asked_for_repeatedly(void**) {
    const Connected c;
    EXPECT_OK(rpma_conn_disconnect(c.conn));
    assert_true(c.id->disconnected);
    EXPECT_OK(rpma_conn_disconnect(c.conn));
    world.fail("rdma_disconnect", 1, EINVAL);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_disconnect(c.conn), "rdma_disconnect");
}

void a_failing_delete_goes_on_with_the_rest(void**) {
    for (const char* call : {"ibv_destroy_cq", "ibv_destroy_comp_channel", "rdma_destroy_id"}) {
        Connected c;
        world.fail(call, 1, EBUSY);
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_delete(&c.conn), call);
        assert_null(c.conn);
        assert_int_equal(world.live["id"] + world.live["cq"] + world.live["comp_channel"] +
                             world.live["event_channel"] + world.live["qp"],
                         0);
    }
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(events_are_translated),
        TEST(other_events_have_no_counterpart),
        TEST(closing_is_reported_once),
        TEST(no_event_is_no_fault),
        TEST(events_are_logged_with_their_cause),
        TEST(private_data_come_with_the_first_established_event),
        TEST(private_data_survive_a_failed_acknowledgement),
        TEST(getters_tell_about_the_connection),
        TEST(disconnecting_can_be_asked_for_repeatedly),
        TEST(a_failing_delete_goes_on_with_the_rest),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
