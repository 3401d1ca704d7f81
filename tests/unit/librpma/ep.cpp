// SPDX-License-Identifier: BSD-3-Clause
// Endpoints: listening, taking requests, shutting down.
#include <cerrno>

#include "harness.hpp"

namespace {

using fake::world;

struct Listening {
    rpma_peer* peer = harness::make_peer();
    rpma_ep* ep = nullptr;

    Listening() { EXPECT_OK(rpma_ep_listen(peer, "192.0.2.1", "7204", &ep)); }
    ~Listening() {
        rpma_ep_shutdown(&ep);
        rpma_peer_delete(&peer);
    }
};

void an_endpoint_listens(void**) {
    const Listening l;
    assert_true(fake::last_id()->bound && fake::last_id()->listening);
    assert_int_equal(world.count("rdma_listen"), 1);
    assert_int_equal(world.look_up_flags, RAI_PASSIVE);
    int fd = -1;
    EXPECT_OK(rpma_ep_get_fd(l.ep, &fd));
    assert_int_equal(fd, fake::last_id()->channel->fd);
}

void no_request_is_no_fault(void**) {
    const Listening l;
    for (const int err : {EAGAIN, EWOULDBLOCK, ENODATA, EINTR}) {
        rpma_conn_req* req = harness::untouched<rpma_conn_req>();
        world.fail("rdma_get_cm_event", 1, err);
        assert_int_equal(rpma_ep_next_conn_req(l.ep, nullptr, &req), RPMA_E_NO_EVENT);
        assert_int_equal(errno, err);
        assert_ptr_equal(req, harness::untouched<rpma_conn_req>());
    }
    assert_int_equal(harness::lines.size(), 0);
    rpma_conn_req* req = harness::untouched<rpma_conn_req>();
    world.fail("rdma_get_cm_event", 1, EBADF);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_ep_next_conn_req(l.ep, nullptr, &req), "EBADF");
    assert_ptr_equal(req, harness::untouched<rpma_conn_req>());
}

void other_events_are_taken_and_refused(void**) {
    const Listening l;
    fake::push_event(fake::last_id(), RDMA_CM_EVENT_ADDR_CHANGE);
    rpma_conn_req* req = harness::untouched<rpma_conn_req>();
    EXPECT_FAILS(RPMA_E_INVAL, rpma_ep_next_conn_req(l.ep, nullptr, &req), "ADDR_CHANGE");
    assert_ptr_equal(req, harness::untouched<rpma_conn_req>());
    assert_int_equal(world.live["event"], 0);
}

void a_request_has_its_own_channel_before_it_is_accepted(void**) {
    const Listening l;
    fake::Id* id = fake::arrive("hello");
    rpma_conn_req* req = nullptr;
    EXPECT_OK(rpma_ep_next_conn_req(l.ep, nullptr, &req));
    assert_int_equal(world.live["event_channel"], 2);
    rpma_conn* conn = nullptr;
    EXPECT_OK(rpma_conn_req_connect(&req, nullptr, &conn));
    assert_true(id->accepted);
    // The event of the new connection is not on the endpoint's channel, where it would be lost.
    rpma_conn_req* none = harness::untouched<rpma_conn_req>();
    assert_int_equal(rpma_ep_next_conn_req(l.ep, nullptr, &none), RPMA_E_NO_EVENT);
    rpma_conn_event event = RPMA_CONN_UNDEFINED;
    EXPECT_OK(rpma_conn_next_event(conn, &event));
    assert_int_equal(event, RPMA_CONN_ESTABLISHED);
    EXPECT_OK(rpma_conn_delete(&conn));
}

void requests_outlive_their_endpoint(void**) {
    Listening l;
    fake::arrive();
    fake::arrive();
    rpma_conn_req* accepted = nullptr;
    rpma_conn_req* rejected = nullptr;
    EXPECT_OK(rpma_ep_next_conn_req(l.ep, nullptr, &accepted));
    EXPECT_OK(rpma_ep_next_conn_req(l.ep, nullptr, &rejected));
    EXPECT_OK(rpma_ep_shutdown(&l.ep));
    assert_null(l.ep);
    rpma_conn* conn = nullptr;
    EXPECT_OK(rpma_conn_req_connect(&accepted, nullptr, &conn));
    EXPECT_OK(rpma_conn_req_delete(&rejected));
    assert_int_equal(world.rejections, 1);
    EXPECT_OK(rpma_conn_delete(&conn));
}

void every_address_is_tried(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_ep* ep = nullptr;
    world.families = {AF_INET6, AF_INET};
    world.dead_families = {AF_INET6};
    EXPECT_OK(rpma_ep_listen(peer, "name", "7204", &ep));
    assert_int_equal(fake::last_id()->family, AF_INET);
    EXPECT_OK(rpma_ep_shutdown(&ep));
    world.dead_families = {AF_INET6, AF_INET};
    ep = harness::untouched<rpma_ep>();
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_ep_listen(peer, "name", "7204", &ep), "EADDRNOTAVAIL");
    assert_true(harness::lines[0].text.find("name, port 7204") != std::string::npos);
    assert_ptr_equal(ep, harness::untouched<rpma_ep>());
    EXPECT_OK(rpma_peer_delete(&peer));
}

void the_last_user_tells_how_the_peer_went(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_ep* ep = nullptr;
    EXPECT_OK(rpma_ep_listen(peer, "192.0.2.1", "7204", &ep));
    EXPECT_OK(rpma_peer_delete(&peer));
    world.fail("ibv_dealloc_pd", 1, EBUSY);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_ep_shutdown(&ep), "ibv_dealloc_pd");
    assert_null(ep);
}

void a_port_that_is_taken_is_not_got_round(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_ep* ep = harness::untouched<rpma_ep>();
    world.families = {AF_INET6, AF_INET};
    for (const char* call : {"rdma_bind_addr", "rdma_listen"}) {
        world.fail(call, 1, EADDRINUSE);
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_ep_listen(peer, "localhost", "7204", &ep), call);
        assert_true(harness::lines[0].text.find("choose another port") != std::string::npos);
        assert_int_equal(errno, EADDRINUSE);
        assert_ptr_equal(ep, harness::untouched<rpma_ep>());
    }
    EXPECT_OK(rpma_peer_delete(&peer));
}

void a_machine_without_devices_is_told_so(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_ep* ep = harness::untouched<rpma_ep>();
    world.present = false;
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_ep_listen(peer, "127.0.0.1", "7204", &ep),
                 "rpma-fabric run --");
    world.present = true;
    world.fail("rdma_bind_addr", 1, EADDRINUSE);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_ep_listen(peer, "127.0.0.1", "7204", &ep), "EADDRINUSE");
    assert_true(harness::lines[0].text.find("rpma-fabric") == std::string::npos);
    EXPECT_OK(rpma_peer_delete(&peer));
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(an_endpoint_listens),
        TEST(no_request_is_no_fault),
        TEST(other_events_are_taken_and_refused),
        TEST(a_request_has_its_own_channel_before_it_is_accepted),
        TEST(requests_outlive_their_endpoint),
        TEST(every_address_is_tried),
        TEST(the_last_user_tells_how_the_peer_went),
        TEST(a_port_that_is_taken_is_not_got_round),
        TEST(a_machine_without_devices_is_told_so),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
