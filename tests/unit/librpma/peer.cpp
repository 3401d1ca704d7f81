// SPDX-License-Identifier: BSD-3-Clause
// Peers: making one, its life behind its children, the flush buffer it shares.
#include <cerrno>

#include "harness.hpp"

namespace {

using fake::world;

void a_peer_is_made_and_deleted(void**) {
    rpma_peer* peer = harness::make_peer();
    assert_int_equal(world.live["pd"], 1);
    assert_int_equal(world.count("query_device_ex"), 1);  // one query for all capabilities
    EXPECT_OK(rpma_peer_delete(&peer));
    assert_null(peer);
}

void refused_protection_domains_have_their_codes(void**) {
    rpma_peer* peer = harness::untouched<rpma_peer>();
    world.fail("ibv_alloc_pd", 1, ENOMEM);
    EXPECT_FAILS(RPMA_E_NOMEM, rpma_peer_new(fake::context(), &peer), "ENOMEM");
    world.fail("ibv_alloc_pd", 1, EMFILE);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_peer_new(fake::context(), &peer), "EMFILE");
    assert_int_equal(errno, EMFILE);
    world.fail("ibv_alloc_pd", 1, 0);
    EXPECT_FAILS(RPMA_E_UNKNOWN, rpma_peer_new(fake::context(), &peer), "ibv_alloc_pd");
    world.fail("query_device_ex", 1, EIO);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_peer_new(fake::context(), &peer), "ibv_query_device_ex");
    harness::fail_allocation(1);
    EXPECT_FAILS(RPMA_E_NOMEM, rpma_peer_new(fake::context(), &peer), "out of memory");
    assert_ptr_equal(peer, harness::untouched<rpma_peer>());
}

void a_failing_delete_leaves_no_object(void**) {
    rpma_peer* peer = harness::make_peer();
    world.fail("ibv_dealloc_pd", 1, EBUSY);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_peer_delete(&peer), "ibv_dealloc_pd");
    assert_null(peer);
}

void a_peer_outlives_its_children(void**) {
    char memory[64];
    rpma_peer* peer = harness::make_peer();
    rpma_mr_local* region = harness::make_region(peer, memory, sizeof(memory), 1);
    rpma_srq* srq = nullptr;
    EXPECT_OK(rpma_srq_new(peer, nullptr, &srq));
    rpma_ep* ep = nullptr;
    EXPECT_OK(rpma_ep_listen(peer, "192.0.2.1", "7204", &ep));
    rpma_conn_req* req = harness::make_request(peer);
    rpma_conn* conn = harness::make_connection(peer);
    EXPECT_OK(rpma_peer_delete(&peer));
    assert_int_equal(world.live["pd"], 1);
    // The endpoint still makes requests from it.
    fake::arrive();
    rpma_conn_req* incoming = nullptr;
    EXPECT_OK(rpma_ep_next_conn_req(ep, nullptr, &incoming));
    EXPECT_OK(rpma_conn_req_delete(&incoming));
    EXPECT_OK(rpma_ep_shutdown(&ep));
    EXPECT_OK(rpma_mr_dereg(&region));
    EXPECT_OK(rpma_srq_delete(&srq));
    EXPECT_OK(rpma_conn_req_delete(&req));
    assert_int_equal(world.live["pd"], 1);
    world.fail("ibv_dealloc_pd", 1, EBUSY);  // the last child tells what it meets
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_delete(&conn), "ibv_dealloc_pd");
}

void connections_share_one_flush_buffer(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn_req* unused = harness::make_request(peer);
    assert_int_equal(world.count("ibv_reg_mr"), 0);  // on first use only
    rpma_conn* first = harness::make_connection(peer);
    rpma_conn* second = harness::make_connection(peer);
    assert_int_equal(world.count("ibv_reg_mr"), 1);
    assert_int_equal(world.mrs[0]->length, 8);
    assert_int_equal(world.last_access, IBV_ACCESS_LOCAL_WRITE);
    assert_int_equal(reinterpret_cast<std::uintptr_t>(world.mrs[0]->addr) % 4096, 0);
    EXPECT_OK(rpma_conn_req_delete(&unused));
    EXPECT_OK(rpma_conn_delete(&first));
    EXPECT_OK(rpma_peer_delete(&peer));
    EXPECT_OK(rpma_conn_delete(&second));
}

void on_iwarp_the_flush_buffer_is_writable_from_outside(void**) {
    fake::context()->device->transport_type = IBV_TRANSPORT_IWARP;
    rpma_peer* peer = harness::make_peer();
    rpma_conn* conn = harness::make_connection(peer);
    assert_int_equal(world.last_access, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    fake::context()->device->transport_type = IBV_TRANSPORT_IB;
    EXPECT_OK(rpma_conn_delete(&conn));
    EXPECT_OK(rpma_peer_delete(&peer));
}

void a_page_that_stays_mapped_is_told(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn* conn = harness::make_connection(peer);
    EXPECT_OK(rpma_conn_delete(&conn));
    harness::fail_munmap(EINVAL);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_peer_delete(&peer), "munmap of the flush page");
    assert_null(peer);
    assert_int_equal(errno, EINVAL);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(a_peer_is_made_and_deleted),
        TEST(refused_protection_domains_have_their_codes),
        TEST(a_failing_delete_leaves_no_object),
        TEST(a_peer_outlives_its_children),
        TEST(connections_share_one_flush_buffer),
        TEST(a_page_that_stays_mapped_is_told),
        TEST(on_iwarp_the_flush_buffer_is_writable_from_outside),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
