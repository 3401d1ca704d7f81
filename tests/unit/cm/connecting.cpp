// SPDX-License-Identifier: BSD-3-Clause
// Connecting: what both sides are told, and what their queue pairs are given.
#include <arpa/inet.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "peers.hpp"

using namespace fabric::test;

namespace {

std::string zero_filled(std::string data, std::size_t size) {
    data.resize(size, '\0');
    return data;
}

std::string private_data(const rdma_cm_event& event) {
    const auto& param = event.param.conn;
    return {static_cast<const char*>(param.private_data), param.private_data_len};
}

void both_sides_hear_and_reach_ready_to_send(void**) {
    Connection c;
    const ibv_qp_attr active = c.client.id.attributes();
    const ibv_qp_attr passive = c.accepted.attributes();
    assert_int_equal(active.qp_state, IBV_QPS_RTS);
    assert_int_equal(passive.qp_state, IBV_QPS_RTS);
    assert_int_equal(active.dest_qp_num, c.accepted->qp->qp_num);
    assert_int_equal(passive.dest_qp_num, c.client.id->qp->qp_num);
    assert_int_equal(active.rq_psn, passive.sq_psn);
    assert_int_equal(passive.rq_psn, active.sq_psn);
    assert_int_equal(active.path_mtu, passive.path_mtu);
    assert_int_equal(active.rnr_retry, 7);
    assert_int_not_equal(active.min_rnr_timer, 0);
    assert_int_equal(active.retry_cnt, 7);
    assert_true(c.server.events.empty());
    assert_true(c.client.events.empty());
}

void ids_are_filled(void**) {
    Connection c;
    const rdma_cm_id& active = *c.client.id.get();
    const rdma_cm_id& passive = *c.accepted.get();
    for (const rdma_cm_id* const id : {&active, &passive}) {
        assert_non_null(id->verbs);
        assert_non_null(id->pd);
        assert_int_equal(id->port_num, 1);
        assert_int_equal(id->ps, RDMA_PS_TCP);
        assert_int_equal(id->qp_type, IBV_QPT_RC);
        assert_int_equal(id->route.num_paths, 1);
        assert_int_equal(id->route.path_rec->pkey, htons(0xffff));
        assert_int_equal(id->route.addr.src_addr.sa_family, AF_INET);
        assert_int_equal(id->route.addr.addr.ibaddr.sgid.raw[15], 1);
    }
    assert_ptr_equal(active.verbs, passive.verbs);
    assert_int_equal(rdma_get_src_port(c.client.id.get()), rdma_get_dst_port(c.accepted.get()));
    assert_int_equal(rdma_get_dst_port(c.client.id.get()), rdma_get_src_port(c.accepted.get()));
    assert_int_not_equal(rdma_get_src_port(c.client.id.get()), 0);
}

void depths_change_places(void**) {
    Server server;
    Client client(server.port());
    rdma_conn_param param = parameters();
    param.responder_resources = 3;
    param.initiator_depth = 5;
    param.retry_count = 6;
    param.rnr_retry_count = 2;
    param.flow_control = 1;
    assert_int_equal(rdma_connect(client.id.get(), &param), 0);
    EventPtr event = server.events.expect(RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_int_equal(event->param.conn.responder_resources, 5);
    assert_int_equal(event->param.conn.initiator_depth, 3);
    assert_int_equal(event->param.conn.retry_count, 6);
    assert_int_equal(event->param.conn.rnr_retry_count, 2);
    assert_int_equal(event->param.conn.flow_control, 1);
    assert_int_equal(event->param.conn.qp_num, client.id->qp->qp_num);
    Peer accepted(event->id);
    event.reset();
    accepted.make_pair();
    rdma_conn_param answer = parameters();
    answer.rnr_retry_count = 4;
    assert_int_equal(rdma_accept(accepted.get(), &answer), 0);
    event = client.events.expect(RDMA_CM_EVENT_ESTABLISHED);
    assert_int_equal(event->param.conn.responder_resources, 3);
    assert_int_equal(event->param.conn.initiator_depth, 5);
    assert_int_equal(event->param.conn.qp_num, accepted->qp->qp_num);
    event.reset();
    server.events.expect(RDMA_CM_EVENT_ESTABLISHED);
    const ibv_qp_attr active = client.id.attributes();
    const ibv_qp_attr passive = accepted.attributes();
    assert_int_equal(active.max_rd_atomic, 5);
    assert_int_equal(active.max_dest_rd_atomic, 3);
    assert_int_equal(passive.max_rd_atomic, 3);
    assert_int_equal(passive.max_dest_rd_atomic, 5);
    assert_int_equal(active.rnr_retry, 4);   // as the accepting side wished
    assert_int_equal(passive.rnr_retry, 2);  // as the connecting side wished
    assert_int_equal(passive.retry_cnt, 6);
    // Tries that are counted are spaced as the kernel spaces them, with code 0: 655 ms.
    assert_int_equal(active.min_rnr_timer, 0);
    assert_int_equal(passive.min_rnr_timer, 0);
}

void private_data_fill_the_whole_area(void**) {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{24}, std::size_t{56}}) {
        const std::string asked(size, 'q');
        const std::string answered(size * 3 + size / 2, 'a');
        Server server;
        Client client(server.port());
        assert_int_equal(client.connect(asked), 0);
        EventPtr event = server.events.expect(RDMA_CM_EVENT_CONNECT_REQUEST);
        assert_true(private_data(*event) == zero_filled(asked, 56));
        Peer accepted(event->id);
        event.reset();
        accepted.make_pair();
        rdma_conn_param param = parameters(answered);
        assert_int_equal(rdma_accept(accepted.get(), &param), 0);
        event = client.events.expect(RDMA_CM_EVENT_ESTABLISHED);
        assert_true(private_data(*event) == zero_filled(answered, 196));
        event.reset();
        event = server.events.expect(RDMA_CM_EVENT_ESTABLISHED);
        assert_int_equal(event->param.conn.private_data_len, 0);
        assert_null(event->param.conn.private_data);
        event.reset();
    }
}

void too_much_private_data_is_refused_and_nothing_is_sent(void**) {
    Server server;
    Client client(server.port());
    assert_int_equal(client.connect(std::string(57, 'x')), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(client.connect(std::string(56, 'x')), 0);
    Peer accepted = server.request();
    accepted.make_pair();
    const std::string much(197, 'x');
    rdma_conn_param param = parameters(much);
    assert_int_equal(rdma_accept(accepted.get(), &param), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(rdma_reject(accepted.get(), much.data(), 149), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(rdma_reject(accepted.get(), much.data(), 148), 0);
    EventPtr event = client.events.expect(RDMA_CM_EVENT_REJECTED);
    assert_true(private_data(*event) == std::string(148, 'x'));
}

void accepting_without_parameters(void**) {
    Server server;
    Client client(server.port());
    assert_int_equal(rdma_connect(client.id.get(), nullptr), 0);
    Peer accepted = server.request();
    assert_int_equal(rdma_accept(accepted.get(), nullptr), -1);  // nor a queue pair
    assert_int_equal(errno, EINVAL);
    accepted.make_pair();
    assert_int_equal(rdma_accept(accepted.get(), nullptr), 0);
    client.events.expect(RDMA_CM_EVENT_ESTABLISHED);
    server.events.expect(RDMA_CM_EVENT_ESTABLISHED);
    assert_int_equal(client.id.attributes().qp_state, IBV_QPS_RTS);
}

void more_than_the_device_has_is_refused(void**) {
    Server server;
    Client client(server.port());
    rdma_conn_param param = parameters();
    param.responder_resources = 254;
    assert_int_equal(rdma_connect(client.id.get(), &param), -1);
    assert_int_equal(errno, EINVAL);
    param = parameters();
    param.initiator_depth = 254;
    assert_int_equal(rdma_connect(client.id.get(), &param), -1);
    assert_int_equal(errno, EINVAL);
}

void rejection_carries_reason_and_data(void**) {
    Server server;
    Client client(server.port());
    assert_int_equal(client.connect(), 0);
    Peer accepted = server.request();
    assert_int_equal(rdma_reject(accepted.get(), "no", 2), 0);
    const EventPtr event = client.events.expect(RDMA_CM_EVENT_REJECTED);
    assert_int_equal(event->status, 28);
    assert_true(private_data(*event) == zero_filled("no", 148));
    assert_int_equal(client.id.attributes().qp_state, IBV_QPS_ERR);
    assert_int_equal(rdma_reject(accepted.get(), nullptr, 0), -1);  // a second time
    assert_int_equal(errno, EINVAL);
}

void destroying_a_request_rejects_it(void**) {
    Server server;
    Client client(server.port());
    assert_int_equal(client.connect(), 0);
    server.request().reset();
    assert_int_equal(client.events.expect(RDMA_CM_EVENT_REJECTED)->status, 28);
}

void destroying_the_listener_rejects_what_waits(void**) {
    auto server = std::make_unique<Server>();
    Client client(server->port());
    assert_int_equal(client.connect(), 0);
    while (server->events.empty())
        continue;
    server->id.reset();
    assert_true(server->events.empty());
    assert_int_equal(client.events.expect(RDMA_CM_EVENT_REJECTED)->status, 28);
}

void nobody_listens(void**) {
    std::uint16_t port = 0;
    {
        Server server;
        port = server.port();
    }
    Client client(port);
    assert_int_equal(client.connect(), 0);
    const EventPtr event = client.events.expect(RDMA_CM_EVENT_REJECTED);
    assert_int_equal(event->status, 8);
    assert_int_equal(client.connect(), -1);  // an id is good for one attempt
    assert_int_equal(errno, EINVAL);
}

bool connects_to_late_listener() {
    std::uint16_t port = 0;
    {
        Server server;
        port = server.port();
    }
    Client client(port);
    assert_int_equal(client.connect(), 0);
    Events events;
    Peer id(events.channel());
    sockaddr_in address = loopback(port);
    assert_int_equal(rdma_bind_addr(id.get(), generic(address)), 0);
    assert_int_equal(rdma_listen(id.get(), 0), 0);
    while (events.empty() && client.events.empty())
        continue;
    if (events.empty())
        return false;
    const Peer accepted(events.expect(RDMA_CM_EVENT_CONNECT_REQUEST)->id);
    return true;
}

// Listening a moment after the peer connects is early enough, as it is on a network. The moment is
// short, so a busy machine gets several chances.
void a_listener_may_be_a_little_late(void**) {
    bool connected = false;
    for (int i = 0; i < 20 && !connected; ++i)
        connected = connects_to_late_listener();
    assert_true(connected);
}

void other_port_space_is_another_service(void**) {
    Server server;
    Events events;
    Peer id(events.channel(), RDMA_PS_IB);
    sockaddr_in to = loopback(server.port());
    assert_int_equal(rdma_resolve_addr(id.get(), nullptr, generic(to), 1000), 0);
    events.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_int_equal(rdma_resolve_route(id.get(), 1000), 0);
    events.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    id.make_pair();
    rdma_conn_param param = parameters();
    assert_int_equal(rdma_connect(id.get(), &param), 0);
    assert_int_equal(events.expect(RDMA_CM_EVENT_REJECTED)->status, 8);
    assert_true(server.events.empty());
}

void backlog_limits_what_waits(void**) {
    Server server(2);
    std::array<std::unique_ptr<Client>, 3> clients;
    for (auto& client : clients) {
        client = std::make_unique<Client>(server.port());
        assert_int_equal(client->connect(), 0);
        if (&client == &clients.back())
            break;
        while (server.events.empty())
            continue;
    }
    // The third finds the queue full; the order of arrival is that of connecting, more or less.
    int rejected = 0;
    while (rejected == 0)
        for (auto& client : clients)
            if (!client->events.empty()) {
                assert_int_equal(client->events.expect(RDMA_CM_EVENT_REJECTED)->status, 28);
                ++rejected;
            }
    assert_int_equal(rejected, 1);
    const Peer first = server.request();
    const Peer second = server.request();
    Client next(server.port());  // there is room again
    assert_int_equal(next.connect(), 0);
    const Peer third = server.request();
    assert_true(server.events.empty());
}

void without_a_queue_pair_the_program_establishes(void**) {
    Server server;
    Client client(server.port(), false);
    const std::string hello = "hello";
    rdma_conn_param param = parameters(hello);
    param.qp_num = 0x123456;
    param.srq = 1;
    assert_int_equal(rdma_connect(client.id.get(), &param), 0);
    EventPtr event = server.events.expect(RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_int_equal(event->param.conn.qp_num, 0x123456);
    assert_int_equal(event->param.conn.srq, 1);
    Peer accepted(event->id);
    event.reset();
    rdma_conn_param answer = parameters();
    answer.qp_num = 0x654321;
    assert_int_equal(rdma_accept(accepted.get(), &answer), 0);
    event = client.events.expect(RDMA_CM_EVENT_CONNECT_RESPONSE);
    assert_int_equal(event->param.conn.qp_num, 0x654321);
    event.reset();
    assert_true(server.events.empty());
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTR;
    int mask = 0;
    assert_int_equal(rdma_init_qp_attr(client.id.get(), &attr, &mask), 0);
    assert_int_equal(attr.dest_qp_num, 0x654321);
    assert_int_equal(rdma_establish(client.id.get()), 0);
    server.events.expect(RDMA_CM_EVENT_ESTABLISHED);
    assert_true(client.events.empty());
    assert_int_equal(rdma_establish(client.id.get()), -1);
    assert_int_equal(errno, EINVAL);
}

void attributes_are_not_known_too_early(void**) {
    Events events;
    Peer id(events.channel());
    ibv_qp_attr attr{};
    int mask = 0;
    attr.qp_state = IBV_QPS_INIT;
    assert_int_equal(rdma_init_qp_attr(id.get(), &attr, &mask), -1);  // no device yet
    Server server;
    Client client(server.port());
    attr.qp_state = IBV_QPS_INIT;
    assert_int_equal(rdma_init_qp_attr(client.id.get(), &attr, &mask), 0);
    assert_int_equal(mask, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT);
    assert_int_equal(attr.port_num, 1);
    attr.qp_state = IBV_QPS_RTR;
    assert_int_equal(rdma_init_qp_attr(client.id.get(), &attr, &mask), -1);
    assert_int_equal(errno, EINVAL);
}

void calls_out_of_order_are_refused(void**) {
    Server server;
    Events events;
    Peer id(events.channel());
    rdma_conn_param param = parameters();
    sockaddr_in to = loopback(server.port());
    assert_int_equal(rdma_connect(id.get(), &param), -1);
    assert_int_equal(rdma_resolve_route(id.get(), 1000), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(rdma_accept(id.get(), &param), -1);
    assert_int_equal(rdma_reject(id.get(), nullptr, 0), -1);
    assert_int_equal(rdma_disconnect(id.get()), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(rdma_resolve_addr(id.get(), nullptr, generic(to), 1000), 0);
    assert_int_equal(rdma_resolve_addr(id.get(), nullptr, generic(to), 1000), -1);
    assert_int_equal(rdma_bind_addr(id.get(), generic(to)), -1);
    assert_int_equal(rdma_listen(id.get(), 1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(rdma_listen(server.id.get(), 1), -1);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_hear_and_reach_ready_to_send),
        cmocka_unit_test(ids_are_filled),
        cmocka_unit_test(depths_change_places),
        cmocka_unit_test(private_data_fill_the_whole_area),
        cmocka_unit_test(too_much_private_data_is_refused_and_nothing_is_sent),
        cmocka_unit_test(accepting_without_parameters),
        cmocka_unit_test(more_than_the_device_has_is_refused),
        cmocka_unit_test(rejection_carries_reason_and_data),
        cmocka_unit_test(destroying_a_request_rejects_it),
        cmocka_unit_test(destroying_the_listener_rejects_what_waits),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(a_listener_may_be_a_little_late),
        cmocka_unit_test(other_port_space_is_another_service),
        cmocka_unit_test(backlog_limits_what_waits),
        cmocka_unit_test(without_a_queue_pair_the_program_establishes),
        cmocka_unit_test(attributes_are_not_known_too_early),
        cmocka_unit_test(calls_out_of_order_are_refused),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
