// SPDX-License-Identifier: BSD-3-Clause
// Requests: what is asked from rdma-core, private data, connecting and giving up.
#include <cerrno>
#include <cstring>

#include "harness.hpp"

namespace {

using fake::world;

void a_request_is_made_as_configured(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn_cfg* cfg = nullptr;
    EXPECT_OK(rpma_conn_cfg_new(&cfg));
    EXPECT_OK(rpma_conn_cfg_set_timeout(cfg, 77));
    EXPECT_OK(rpma_conn_cfg_set_cq_size(cfg, 11));
    EXPECT_OK(rpma_conn_cfg_set_rcq_size(cfg, 12));
    EXPECT_OK(rpma_conn_cfg_set_sq_size(cfg, 13));
    EXPECT_OK(rpma_conn_cfg_set_rq_size(cfg, 14));
    rpma_conn_req* req = harness::make_request(peer, cfg);
    assert_int_equal(world.timeouts.at(0), 77);
    assert_int_equal(world.timeouts.at(1), 77);
    assert_int_equal(world.cq_sizes.at(0), 11);
    assert_int_equal(world.cq_sizes.at(1), 12);
    const ibv_qp_init_attr_ex& qp = world.qps.at(0);
    assert_int_equal(qp.cap.max_send_wr, 13);
    assert_int_equal(qp.cap.max_recv_wr, 14);
    assert_int_equal(qp.cap.max_send_sge, 1);
    assert_int_equal(qp.cap.max_recv_sge, 1);
    assert_int_equal(qp.cap.max_inline_data, 8);
    assert_int_equal(qp.qp_type, IBV_QPT_RC);
    assert_int_equal(qp.sq_sig_all, 0);
    assert_null(qp.srq);
    assert_ptr_not_equal(qp.send_cq, qp.recv_cq);
    rpma_conn_private_data data = {&data, 1};
    EXPECT_OK(rpma_conn_req_get_private_data(req, &data));
    assert_null(data.ptr);
    assert_int_equal(data.len, 0);
    EXPECT_OK(rpma_conn_req_delete(&req));
    assert_null(req);
    assert_int_equal(world.rejections, 0);
    EXPECT_OK(rpma_conn_cfg_delete(&cfg));
    EXPECT_OK(rpma_peer_delete(&peer));
}

void defaults_are_used_without_a_configuration(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn_req* req = harness::make_request(peer);
    assert_int_equal(world.timeouts.at(0), 1000);
    assert_int_equal(world.cq_sizes.at(0), 10);
    assert_int_equal(world.cq_sizes.size(), 1);
    assert_int_equal(world.qps.at(0).cap.max_send_wr, 10);
    assert_ptr_equal(world.qps.at(0).send_cq, world.qps.at(0).recv_cq);
    EXPECT_OK(rpma_conn_req_delete(&req));
    EXPECT_OK(rpma_peer_delete(&peer));
}

void connecting_uses_the_documented_parameters(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn_req* req = harness::make_request(peer);
    char bytes[] = "0123456789";
    const rpma_conn_private_data data = {bytes, 10};
    rpma_conn* conn = nullptr;
    EXPECT_OK(rpma_conn_req_connect(&req, &data, &conn));
    assert_null(req);
    const rdma_conn_param& parameters = world.parameters.at(0);
    assert_string_equal(world.sent_private_data.at(0).c_str(), "0123456789");
    assert_int_equal(parameters.responder_resources, 255);
    assert_int_equal(parameters.initiator_depth, 255);
    assert_int_equal(parameters.flow_control, 1);
    assert_int_equal(parameters.retry_count, 7);
    assert_int_equal(parameters.rnr_retry_count, 7);
    assert_int_equal(parameters.srq, 0);
    assert_int_equal(parameters.qp_num, 0);
    EXPECT_OK(rpma_conn_delete(&conn));
    assert_null(conn);
    EXPECT_OK(rpma_peer_delete(&peer));
}

struct Incoming {
    rpma_peer* peer = harness::make_peer();
    rpma_ep* ep = nullptr;
    rpma_conn_req* req = nullptr;
    fake::Id* id = nullptr;

    explicit Incoming(const std::string& data = "") {
        EXPECT_OK(rpma_ep_listen(peer, "192.0.2.1", "7204", &ep));
        id = fake::arrive(data);
        EXPECT_OK(rpma_ep_next_conn_req(ep, nullptr, &req));
    }
    ~Incoming() {
        rpma_ep_shutdown(&ep);
        rpma_peer_delete(&peer);
    }
};

void private_data_of_a_request_stay_where_they_are(void**) {
    Incoming in("\1\2\3\4\5\6\7\10");
    rpma_conn_private_data before = {};
    EXPECT_OK(rpma_conn_req_get_private_data(in.req, &before));
    assert_int_equal(before.len, 8);
    assert_memory_equal(before.ptr, "\1\2\3\4\5\6\7\10", 8);
    assert_int_equal(reinterpret_cast<std::uintptr_t>(before.ptr) % 16, 0);
    rpma_conn* conn = nullptr;
    EXPECT_OK(rpma_conn_req_connect(&in.req, nullptr, &conn));
    rpma_conn_event event = RPMA_CONN_UNDEFINED;
    EXPECT_OK(rpma_conn_next_event(conn, &event));
    rpma_conn_private_data after = {};
    EXPECT_OK(rpma_conn_get_private_data(conn, &after));
    assert_ptr_equal(after.ptr, before.ptr);
    assert_int_equal(after.len, 8);
    assert_memory_equal(after.ptr, "\1\2\3\4\5\6\7\10", 8);
    EXPECT_OK(rpma_conn_delete(&conn));
}

void deleting_an_incoming_request_rejects_and_frees_it(void**) {
    Incoming in("data");
    EXPECT_OK(rpma_conn_req_delete(&in.req));
    assert_null(in.req);
    assert_int_equal(world.rejections, 1);
    assert_int_equal(world.live["id"], 1);  // the listening one
}

void a_failing_rejection_is_told(void**) {
    Incoming in;
    world.fail("rdma_reject", 1, EIO);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_req_delete(&in.req), "rdma_reject");
    assert_true(harness::lines[0].text.find("may have given up") != std::string::npos);
    assert_null(in.req);
    assert_int_equal(world.live["id"], 1);
}

/// Whatever goes wrong while connecting, the request is consumed.
void wrong_arguments_consume_the_request(void**) {
    char byte = 0;
    const rpma_conn_private_data no_length = {&byte, 0};
    const rpma_conn_private_data no_pointer = {nullptr, 4};
    rpma_peer* peer = harness::make_peer();
    rpma_conn* conn = harness::untouched<rpma_conn>();
    rpma_conn_req* req = harness::make_request(peer);
    EXPECT_FAILS(RPMA_E_INVAL, rpma_conn_req_connect(&req, &no_length, &conn), "private data");
    assert_null(req);
    req = harness::make_request(peer);
    EXPECT_FAILS(RPMA_E_INVAL, rpma_conn_req_connect(&req, &no_pointer, &conn), "private data");
    assert_null(req);
    req = harness::make_request(peer);
    EXPECT_FAILS(RPMA_E_INVAL, rpma_conn_req_connect(&req, nullptr, nullptr), "conn_ptr");
    assert_null(req);
    EXPECT_OK(rpma_conn_req_delete(&req));
    Incoming in;
    EXPECT_FAILS(RPMA_E_INVAL, rpma_conn_req_connect(&in.req, &no_length, &conn), "private data");
    assert_null(in.req);
    assert_int_equal(world.rejections, 1);
    assert_ptr_equal(conn, harness::untouched<rpma_conn>());
    EXPECT_OK(rpma_peer_delete(&peer));
}

void a_failing_connect_tells_about_too_much_private_data(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn_req* req = harness::make_request(peer);
    char bytes[57] = {};
    const rpma_conn_private_data data = {bytes, sizeof(bytes)};
    rpma_conn* conn = harness::untouched<rpma_conn>();
    world.fail("rdma_connect", 1, EINVAL);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_req_connect(&req, &data, &conn), "57 bytes");
    assert_null(req);
    assert_int_equal(errno, EINVAL);
    EXPECT_OK(rpma_peer_delete(&peer));
}

void a_failing_accept_does_so_too(void**) {
    char bytes[197] = {};
    for (const std::uint8_t size : {std::uint8_t{196}, std::uint8_t{197}}) {
        Incoming in;
        rpma_conn* conn = harness::untouched<rpma_conn>();
        const rpma_conn_private_data data = {bytes, size};
        world.fail("rdma_accept", 1, EINVAL);
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_req_connect(&in.req, &data, &conn),
                     size == 197 ? "197 bytes were given, InfiniBand and RoCE take 196"
                                 : "may have given up");
    }
}

/// Nothing may fail once the other side has been told that it is connected.
void accepting_comes_last(void**) {
    for (const char* call : {"ibv_reg_mr", "rdma_accept"}) {
        Incoming in;
        rpma_conn* conn = harness::untouched<rpma_conn>();
        world.fail(call, 1, EIO);
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_req_connect(&in.req, nullptr, &conn), call);
        assert_null(in.req);
        assert_int_equal(world.accepted, 0);
        assert_ptr_equal(conn, harness::untouched<rpma_conn>());
    }
    assert_int_equal(world.rejections, 2);
}

void a_failing_request_is_rejected_and_freed(void**) {
    for (const char* call :
         {"rdma_create_event_channel", "rdma_migrate_id", "ibv_create_comp_channel",
          "ibv_create_cq", "req_notify_cq", "rdma_create_qp_ex", "rdma_ack_cm_event"}) {
        rpma_peer* peer = harness::make_peer();
        rpma_ep* ep = nullptr;
        EXPECT_OK(rpma_ep_listen(peer, "192.0.2.1", "7204", &ep));
        fake::arrive();
        rpma_conn_req* req = harness::untouched<rpma_conn_req>();
        const int before = world.rejections;
        world.fail(call, 1, EIO);
        harness::lines.clear();
        assert_int_equal(rpma_ep_next_conn_req(ep, nullptr, &req), RPMA_E_PROVIDER);
        harness::expect_failure_line("rpma_ep_next_conn_req", "EIO");
        assert_int_equal(world.rejections, before + 1);
        assert_ptr_equal(req, harness::untouched<rpma_conn_req>());
        assert_int_equal(world.live["id"], 1);
        EXPECT_OK(rpma_ep_shutdown(&ep));
        EXPECT_OK(rpma_peer_delete(&peer));
    }
}

void memory_running_out_rejects_too(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_ep* ep = nullptr;
    EXPECT_OK(rpma_ep_listen(peer, "192.0.2.1", "7204", &ep));
    for (int nth = 1; nth <= 3; ++nth) {  // request, link, queue
        fake::arrive("data");
        rpma_conn_req* req = harness::untouched<rpma_conn_req>();
        harness::fail_allocation(nth);
        EXPECT_FAILS(RPMA_E_NOMEM, rpma_ep_next_conn_req(ep, nullptr, &req), "out of memory");
        assert_int_equal(world.rejections, nth);
        assert_int_equal(world.live["id"], 1);
    }
    fake::arrive();
    rpma_conn_req* req = nullptr;
    EXPECT_OK(rpma_ep_next_conn_req(ep, nullptr, &req));
    rpma_conn* conn = harness::untouched<rpma_conn>();
    harness::fail_allocation(1);
    EXPECT_FAILS(RPMA_E_NOMEM, rpma_conn_req_connect(&req, nullptr, &conn), "out of memory");
    assert_int_equal(world.rejections, 4);
    EXPECT_OK(rpma_ep_shutdown(&ep));
    EXPECT_OK(rpma_peer_delete(&peer));
}

void every_address_is_tried(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn_req* req = nullptr;
    world.families = {AF_INET6, AF_INET};
    world.dead_families = {AF_INET6};
    EXPECT_OK(rpma_conn_req_new(peer, "name", "7204", nullptr, &req));
    assert_int_equal(world.look_up_flags, RAI_FAMILY);
    assert_int_equal(fake::last_id()->family, AF_INET);
    EXPECT_OK(rpma_conn_req_delete(&req));
    world.dead_families = {AF_INET, AF_INET6};
    req = harness::untouched<rpma_conn_req>();
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_req_new(peer, "na\nme", "7204", nullptr, &req),
                 "ENETUNREACH");
    assert_true(harness::lines[0].text.find("na\\x0ame, port 7204") != std::string::npos);
    EXPECT_OK(rpma_peer_delete(&peer));
}

void a_misspelt_name_gives_the_words_of_the_resolver(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn_req* req = harness::untouched<rpma_conn_req>();
    world.fail("rdma_getaddrinfo", 1, 0);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_req_new(peer, "r92.168.1.10", "7204", nullptr, &req),
                 "Name or service not known");
    assert_true(harness::lines[0].text.find("r92.168.1.10") != std::string::npos);
    EXPECT_OK(rpma_peer_delete(&peer));
}

void an_address_of_another_device_is_told_so(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn_req* req = harness::untouched<rpma_conn_req>();
    world.elsewhere = true;
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_req_new(peer, "a", "1", nullptr, &req),
                 "belongs to another RDMA device");
    world.elsewhere = false;
    EXPECT_OK(rpma_peer_delete(&peer));
}

/// glibc would cut the number to 16 bits, and connect somewhere else.
void a_port_above_65535_is_refused(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn_req* req = harness::untouched<rpma_conn_req>();
    rpma_ep* ep = harness::untouched<rpma_ep>();
    for (const char* port : {"65536", "70000", "99999999999999999999"}) {
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_conn_req_new(peer, "a", port, nullptr, &req), port);
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_ep_listen(peer, "a", port, &ep), "give the port as");
    }
    assert_ptr_equal(req, harness::untouched<rpma_conn_req>());
    assert_ptr_equal(ep, harness::untouched<rpma_ep>());
    assert_int_equal(world.count("rdma_getaddrinfo"), 0);
    // Names of services may begin with a digit.
    for (const char* port : {"65535", "0", "3com-tsmux", ""}) {
        EXPECT_OK(rpma_conn_req_new(peer, "a", port, nullptr, &req));
        EXPECT_OK(rpma_conn_req_delete(&req));
    }
    EXPECT_OK(rpma_peer_delete(&peer));
}

void a_long_name_does_not_displace_the_reason(void**) {
    rpma_peer* peer = harness::make_peer();
    rpma_conn_req* req = harness::untouched<rpma_conn_req>();
    const std::string name(5000, 'x');
    world.fail("rdma_getaddrinfo", 1, 0);
    EXPECT_FAILS(RPMA_E_PROVIDER,
                 rpma_conn_req_new(peer, name.c_str(), name.c_str(), nullptr, &req),
                 "Name or service not known");
    world.present = false;
    world.fail("rdma_create_id", 1, ENODEV);
    EXPECT_FAILS(RPMA_E_PROVIDER,
                 rpma_conn_req_new(peer, name.c_str(), name.c_str(), nullptr, &req), "ENODEV");
    assert_true(harness::lines[0].text.find("install an RDMA adapter") != std::string::npos);
    world.present = true;
    EXPECT_OK(rpma_peer_delete(&peer));
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(a_request_is_made_as_configured),
        TEST(defaults_are_used_without_a_configuration),
        TEST(connecting_uses_the_documented_parameters),
        TEST(private_data_of_a_request_stay_where_they_are),
        TEST(deleting_an_incoming_request_rejects_and_frees_it),
        TEST(a_failing_rejection_is_told),
        TEST(wrong_arguments_consume_the_request),
        TEST(a_failing_connect_tells_about_too_much_private_data),
        TEST(a_failing_accept_does_so_too),
        TEST(accepting_comes_last),
        TEST(a_failing_request_is_rejected_and_freed),
        TEST(memory_running_out_rejects_too),
        TEST(every_address_is_tried),
        TEST(a_misspelt_name_gives_the_words_of_the_resolver),
        TEST(an_address_of_another_device_is_told_so),
        TEST(a_port_above_65535_is_refused),
        TEST(a_long_name_does_not_displace_the_reason),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
