// SPDX-License-Identifier: BSD-3-Clause
// Binding, listening, resolving, options, endpoints, names, and what the device does not have.
#include <arpa/inet.h>
#include <netdb.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "peers.hpp"

using namespace fabric::test;

namespace {

struct FreeInfo {
    void operator()(rdma_addrinfo* info) const { rdma_freeaddrinfo(info); }
};
using Info = std::unique_ptr<rdma_addrinfo, FreeInfo>;

sockaddr* generic(sockaddr_in6& address) {
    return static_cast<sockaddr*>(static_cast<void*>(&address));
}

sockaddr_in ipv4(const char* text, std::uint16_t port) {
    sockaddr_in address = loopback(port);
    assert_int_equal(inet_pton(AF_INET, text, &address.sin_addr), 1);
    return address;
}

sockaddr_in6 ipv6(const char* text, std::uint16_t port) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    assert_int_equal(inet_pton(AF_INET6, text, &address.sin6_addr), 1);
    return address;
}

void local_address_binds_to_the_device(void**) {
    const Events events;
    const Peer id(events.channel());
    assert_null(id->verbs);
    sockaddr_in address = loopback(0);
    assert_int_equal(rdma_bind_addr(id.get(), fabric::test::generic(address)), 0);
    assert_non_null(id->verbs);
    assert_non_null(id->pd);
    assert_int_equal(id->port_num, 1);
    assert_int_not_equal(rdma_get_src_port(id.get()), 0);
    assert_int_equal(rdma_get_dst_port(id.get()), 0);
}

void wildcard_binds_to_no_device(void**) {
    const Events events;
    const Peer id(events.channel());
    sockaddr_in address = ipv4("0.0.0.0", 0);
    assert_int_equal(rdma_bind_addr(id.get(), fabric::test::generic(address)), 0);
    assert_int_equal(rdma_listen(id.get(), 0), 0);
    assert_null(id->verbs);
    assert_int_not_equal(rdma_get_src_port(id.get()), 0);
}

int bind_error(sockaddr* address) {
    const Events events;
    const Peer id(events.channel());
    return rdma_bind_addr(id.get(), address) == 0 ? 0 : errno;
}

void addresses_that_cannot_be_bound(void**) {
    sockaddr_in foreign = ipv4("192.0.2.1", 0);
    assert_int_equal(bind_error(fabric::test::generic(foreign)), EADDRNOTAVAIL);
    sockaddr_in unknown = loopback(0);
    unknown.sin_family = AF_UNIX;
    assert_int_equal(bind_error(fabric::test::generic(unknown)), EINVAL);
    assert_int_equal(bind_error(nullptr), EINVAL);
}

void second_listener_is_refused_and_the_first_goes_on(void**) {
    Server server;
    const Events events;
    {
        const Peer second(events.channel());
        sockaddr_in address = loopback(server.port());
        const bool refused = rdma_bind_addr(second.get(), fabric::test::generic(address)) != 0 ||
                             rdma_listen(second.get(), 0) != 0;
        assert_true(refused);
        assert_int_equal(errno, EADDRINUSE);
    }
    const Client client(server.port());
    assert_int_equal(client.connect(), 0);
    server.request();
}

void port_is_free_at_once(void**) {
    std::uint16_t port = 0;
    for (int round = 0; round < 50; ++round) {
        Events events;
        Peer id(events.channel());
        sockaddr_in address = loopback(port);
        assert_int_equal(rdma_bind_addr(id.get(), fabric::test::generic(address)), 0);
        assert_int_equal(rdma_listen(id.get(), 0), 0);
        port = ntohs(rdma_get_src_port(id.get()));
        Client client(port);
        assert_int_equal(client.connect(), 0);
        Peer accepted(events.expect(RDMA_CM_EVENT_CONNECT_REQUEST)->id);
        accepted.make_pair();
        assert_int_equal(rdma_accept(accepted.get(), nullptr), 0);
        events.expect(RDMA_CM_EVENT_ESTABLISHED);
        client.events.expect(RDMA_CM_EVENT_ESTABLISHED);
        rdma_cm_id* const first = round % 2 == 0 ? accepted.get() : client.id.get();
        rdma_cm_id* const second = round % 2 == 0 ? client.id.get() : accepted.get();
        assert_int_equal(rdma_disconnect(first), 0);
        assert_int_equal(rdma_disconnect(second), 0);
        events.expect(RDMA_CM_EVENT_DISCONNECTED);
        client.events.expect(RDMA_CM_EVENT_DISCONNECTED);
    }
}

// Connects to `to` and gives the family the listener's new id sees.
int family_seen(const Events& listening, sockaddr* to) {
    const Events events;
    Peer id(events.channel());
    assert_int_equal(rdma_resolve_addr(id.get(), nullptr, to, 1000), 0);
    events.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_int_equal(rdma_resolve_route(id.get(), 1000), 0);
    events.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    id.make_pair();
    rdma_conn_param param = parameters();
    assert_int_equal(rdma_connect(id.get(), &param), 0);
    const EventPtr event = listening.expect(RDMA_CM_EVENT_CONNECT_REQUEST);
    const Peer accepted(event->id);
    assert_non_null(accepted->verbs);
    assert_int_equal(rdma_get_src_port(accepted.get()), rdma_get_dst_port(id.get()));
    return rdma_get_local_addr(accepted.get())->sa_family;
}

void wildcards_take_connections(void**) {
    const Events events;
    const Peer id(events.channel());
    sockaddr_in6 any = ipv6("::", 0);
    assert_int_equal(rdma_bind_addr(id.get(), generic(any)), 0);
    assert_int_equal(rdma_listen(id.get(), 0), 0);
    const std::uint16_t port = ntohs(rdma_get_src_port(id.get()));
    sockaddr_in6 six = ipv6("::1", port);
    sockaddr_in four = loopback(port);
    assert_int_equal(family_seen(events, generic(six)), AF_INET6);
    assert_int_equal(family_seen(events, fabric::test::generic(four)), AF_INET);
}

void ipv6_only_leaves_ipv4_alone(void**) {
    const Events events;
    const Peer id(events.channel());
    int on = 1;
    assert_int_equal(
        rdma_set_option(id.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof on), 0);
    sockaddr_in6 any = ipv6("::", 0);
    assert_int_equal(rdma_bind_addr(id.get(), generic(any)), 0);
    assert_int_equal(rdma_listen(id.get(), 0), 0);
    const Client client(ntohs(rdma_get_src_port(id.get())));
    assert_int_equal(client.connect(), 0);
    assert_int_equal(client.events.expect(RDMA_CM_EVENT_REJECTED)->status, 8);
}

void listening_without_binding(void**) {
    const Events events;
    const Peer id(events.channel());
    assert_int_equal(rdma_listen(id.get(), 0), 0);
    const Client client(ntohs(rdma_get_src_port(id.get())));
    assert_int_equal(client.connect(), 0);
    const Peer accepted(events.expect(RDMA_CM_EVENT_CONNECT_REQUEST)->id);
}

void resolving_chooses_the_source(void**) {
    const Events events;
    Peer id(events.channel());
    sockaddr_in to = loopback(7);
    assert_int_equal(rdma_resolve_addr(id.get(), nullptr, fabric::test::generic(to), 1000), 0);
    events.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_int_equal(id->route.addr.src_sin.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    assert_int_not_equal(rdma_get_src_port(id.get()), 0);
    assert_int_equal(rdma_get_dst_port(id.get()), htons(7));
    assert_int_equal(id->route.num_paths, 0);
    assert_int_equal(id->route.addr.addr.ibaddr.dgid.raw[15], 1);
}

void a_given_source_is_used(void**) {
    const Events events;
    Peer id(events.channel());
    sockaddr_in from = ipv4("127.0.0.2", 0);
    sockaddr_in to = loopback(7);
    assert_int_equal(
        rdma_resolve_addr(id.get(), fabric::test::generic(from), fabric::test::generic(to), 1000),
        0);
    assert_int_equal(id->route.addr.src_sin.sin_addr.s_addr, from.sin_addr.s_addr);
    assert_int_not_equal(rdma_get_src_port(id.get()), 0);
    Peer other(events.channel());
    sockaddr_in foreign = ipv4("192.0.2.1", 0);
    assert_int_equal(rdma_resolve_addr(other.get(), fabric::test::generic(foreign),
                                       fabric::test::generic(to), 1000),
                     -1);
    assert_int_equal(errno, EADDRNOTAVAIL);
}

void families_must_agree(void**) {
    const Events events;
    Peer id(events.channel());
    sockaddr_in6 from = ipv6("::1", 0);
    sockaddr_in to = loopback(7);
    assert_int_equal(rdma_resolve_addr(id.get(), generic(from), fabric::test::generic(to), 1000),
                     -1);
    assert_int_equal(errno, EINVAL);
}

void options(void**) {
    const Events events;
    const Peer id(events.channel());
    std::uint8_t byte = 32;
    int number = 1;
    const auto set = [&id](int level, int name, void* value, std::size_t size) {
        return rdma_set_option(id.get(), level, name, value, size) == 0 ? 0 : errno;
    };
    assert_int_equal(set(RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &byte, 1), 0);
    assert_int_equal(set(RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &number, 4), EINVAL);
    assert_int_equal(set(RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &number, 4), 0);
    assert_int_equal(set(RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &byte, 1), EINVAL);
    assert_int_equal(set(RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1), EINVAL);
    byte = 20;
    assert_int_equal(set(RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1), 0);
    assert_int_equal(set(RDMA_OPTION_ID, 77, &byte, 1), ENOSYS);
    assert_int_equal(set(77, 0, &byte, 1), ENOSYS);
    ibv_path_data path{};
    assert_int_equal(set(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof path), EINVAL);
    sockaddr_in to = loopback(7);
    assert_int_equal(rdma_resolve_addr(id.get(), nullptr, fabric::test::generic(to), 1000), 0);
    events.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_int_equal(set(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof path), 0);
    events.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    assert_int_equal(id->route.path_rec->traffic_class, 32);
}

Info look_up(const char* node, const char* service, const rdma_addrinfo* hints) {
    rdma_addrinfo* info = nullptr;
    assert_int_equal(rdma_getaddrinfo(node, service, hints, &info), 0);
    return Info(info);
}

void names_are_resolved(void**) {
    const Info plain = look_up("127.0.0.1", "7471", nullptr);
    assert_int_equal(plain->ai_family, AF_INET);
    assert_int_equal(plain->ai_qp_type, IBV_QPT_RC);
    assert_int_equal(plain->ai_port_space, RDMA_PS_TCP);
    assert_int_equal(plain->ai_dst_len, sizeof(sockaddr_in));
    assert_null(plain->ai_src_addr);
    rdma_addrinfo hints{};
    hints.ai_flags = RAI_PASSIVE;
    hints.ai_port_space = RDMA_PS_TCP;
    hints.ai_qp_type = IBV_QPT_RC;
    const Info passive = look_up(nullptr, "7471", &hints);
    assert_int_equal(passive->ai_flags, RAI_PASSIVE);
    assert_non_null(passive->ai_src_addr);
    assert_null(passive->ai_dst_addr);
    sockaddr_in from = loopback(0);
    hints.ai_flags = RAI_NUMERICHOST;
    hints.ai_src_addr = fabric::test::generic(from);
    hints.ai_src_len = sizeof from;
    const Info with_source = look_up("127.0.0.1", "7471", &hints);
    assert_memory_equal(with_source->ai_src_addr, &from, sizeof from);
    assert_ptr_not_equal(with_source->ai_src_addr, hints.ai_src_addr);
    sockaddr_in to = loopback(99);
    hints.ai_dst_addr = fabric::test::generic(to);
    hints.ai_dst_len = sizeof to;
    const Info from_hints = look_up(nullptr, nullptr, &hints);
    assert_memory_equal(from_hints->ai_dst_addr, &to, sizeof to);
}

void names_that_cannot_be_resolved(void**) {
    rdma_addrinfo* info = nullptr;
    assert_int_equal(rdma_getaddrinfo(nullptr, nullptr, nullptr, &info), -1);
    assert_int_equal(errno, EINVAL);
    rdma_addrinfo hints{};
    hints.ai_flags = RAI_NUMERICHOST;
    hints.ai_port_space = RDMA_PS_TCP;
    assert_int_equal(rdma_getaddrinfo("no number", "1", &hints, &info), EAI_NONAME);
    hints.ai_family = AF_INET6;
    assert_int_not_equal(rdma_getaddrinfo("127.0.0.1", "1", &hints, &info), 0);
    assert_null(info);
    rdma_freeaddrinfo(nullptr);
}

ibv_qp_init_attr pair_attributes() {
    ibv_qp_init_attr attr{};
    attr.cap.max_send_wr = attr.cap.max_recv_wr = 4;
    attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
    attr.sq_sig_all = 1;
    return attr;
}

rdma_cm_id* endpoint(const char* service, int flags, ibv_qp_init_attr* attr) {
    rdma_addrinfo hints{};
    hints.ai_flags = flags;
    hints.ai_port_space = RDMA_PS_TCP;
    const Info info = look_up("127.0.0.1", service, &hints);
    rdma_cm_id* id = nullptr;
    assert_int_equal(rdma_create_ep(&id, info.get(), nullptr, attr), 0);
    return id;
}

// The life of rdma_server and rdma_client, in one thread but for the accepting.
void endpoints_connect(void**) {
    ibv_qp_init_attr attr = pair_attributes();
    rdma_cm_id* const listener = endpoint("0", RAI_PASSIVE, &attr);
    assert_int_equal(rdma_listen(listener, 0), 0);
    const std::string port = std::to_string(ntohs(rdma_get_src_port(listener)));
    ibv_qp_init_attr client_attr = pair_attributes();
    rdma_cm_id* const client = endpoint(port.c_str(), 0, &client_attr);
    assert_non_null(client->qp);
    assert_non_null(client->send_cq);
    assert_non_null(client->send_cq_channel);
    assert_non_null(client->recv_cq);
    assert_ptr_equal(client_attr.send_cq, client->send_cq);
    std::thread accepting([&] {
        rdma_cm_id* accepted = nullptr;
        assert_int_equal(rdma_get_request(listener, &accepted), 0);
        assert_non_null(accepted->qp);
        assert_ptr_not_equal(accepted->channel, listener->channel);
        assert_int_equal(accepted->event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
        assert_int_equal(rdma_accept(accepted, nullptr), 0);
        assert_int_equal(accepted->event->event, RDMA_CM_EVENT_ESTABLISHED);
        assert_int_equal(rdma_disconnect(accepted), 0);
        rdma_destroy_ep(accepted);
    });
    assert_int_equal(rdma_connect(client, nullptr), 0);
    assert_int_equal(client->event->event, RDMA_CM_EVENT_ESTABLISHED);
    // Each side's call waits for the other side's program to disconnect, too.
    assert_int_equal(rdma_disconnect(client), 0);
    accepting.join();
    rdma_destroy_ep(client);
    rdma_destroy_ep(listener);
}

void requests_need_a_synchronous_listener(void**) {
    Server server;
    rdma_cm_id* id = nullptr;
    assert_int_equal(rdma_get_request(server.id.get(), &id), -1);
    assert_int_equal(errno, EINVAL);
}

void shared_receive_queues(void**) {
    Server server;
    Client client(server.port(), false);
    ibv_srq_init_attr srq{};
    srq.attr.max_wr = 16;
    srq.attr.max_sge = 1;
    assert_int_equal(rdma_create_srq(client.id.get(), nullptr, &srq), 0);
    assert_non_null(client.id->srq);
    client.id.make_pair();
    assert_ptr_equal(client.id->qp->srq, client.id->srq);
    rdma_destroy_qp(client.id.get());
    rdma_destroy_srq(client.id.get());
    assert_null(client.id->srq);
    assert_null(client.id->recv_cq);
}

void queue_pairs_need_a_device_and_come_once(void**) {
    const Events events;
    const Peer unbound(events.channel());
    ibv_qp_init_attr attr = pair_attributes();
    attr.qp_type = IBV_QPT_RC;
    assert_int_equal(rdma_create_qp(unbound.get(), nullptr, &attr), -1);
    assert_int_equal(errno, EINVAL);
    Server server;
    const Client client(server.port());
    assert_int_equal(rdma_create_qp(client.id.get(), nullptr, &attr), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(client.id.attributes().qp_state, IBV_QPS_INIT);
}

void datagrams_are_not_there(void**) {
    const Events events;
    Peer id(events.channel(), RDMA_PS_UDP);
    assert_int_equal(id->qp_type, IBV_QPT_UD);
    sockaddr_in to = loopback(7);
    sockaddr_in from = loopback(0);
    assert_int_equal(rdma_bind_addr(id.get(), fabric::test::generic(from)), 0);
    assert_int_equal(rdma_listen(id.get(), 0), -1);
    assert_int_equal(errno, EOPNOTSUPP);
    assert_int_equal(rdma_resolve_addr(id.get(), nullptr, fabric::test::generic(to), 1000), 0);
    events.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    ibv_qp_init_attr attr = pair_attributes();
    attr.qp_type = IBV_QPT_UD;
    assert_int_equal(rdma_create_qp(id.get(), nullptr, &attr), -1);
    assert_int_equal(errno, EOPNOTSUPP);
    assert_null(id->qp);
    assert_null(id->send_cq);
    assert_int_equal(rdma_join_multicast(id.get(), fabric::test::generic(to), nullptr), -1);
    assert_int_equal(errno, EOPNOTSUPP);
    assert_int_equal(rdma_leave_multicast(id.get(), fabric::test::generic(to)), -1);
    assert_int_equal(errno, EADDRNOTAVAIL);
}

void rsockets_are_refused(void**) {
    assert_int_equal(rsocket(AF_INET, SOCK_STREAM, 0), -1);
    assert_int_equal(errno, EOPNOTSUPP);
    errno = 0;
    assert_int_equal(rsend(3, "x", 1, 0), -1);
    assert_int_equal(errno, EOPNOTSUPP);
}

void devices_are_listed(void**) {
    int count = 0;
    ibv_context** const list = rdma_get_devices(&count);
    assert_int_equal(count, 1);
    assert_non_null(list[0]);
    assert_null(list[1]);
    const Events events;
    const Peer id(events.channel());
    sockaddr_in address = loopback(0);
    assert_int_equal(rdma_bind_addr(id.get(), fabric::test::generic(address)), 0);
    assert_ptr_equal(id->verbs, list[0]);
    rdma_free_devices(list);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(local_address_binds_to_the_device),
        cmocka_unit_test(wildcard_binds_to_no_device),
        cmocka_unit_test(addresses_that_cannot_be_bound),
        cmocka_unit_test(second_listener_is_refused_and_the_first_goes_on),
        cmocka_unit_test(port_is_free_at_once),
        cmocka_unit_test(wildcards_take_connections),
        cmocka_unit_test(ipv6_only_leaves_ipv4_alone),
        cmocka_unit_test(listening_without_binding),
        cmocka_unit_test(resolving_chooses_the_source),
        cmocka_unit_test(a_given_source_is_used),
        cmocka_unit_test(families_must_agree),
        cmocka_unit_test(options),
        cmocka_unit_test(names_are_resolved),
        cmocka_unit_test(names_that_cannot_be_resolved),
        cmocka_unit_test(endpoints_connect),
        cmocka_unit_test(requests_need_a_synchronous_listener),
        cmocka_unit_test(shared_receive_queues),
        cmocka_unit_test(queue_pairs_need_a_device_and_come_once),
        cmocka_unit_test(datagrams_are_not_there),
        cmocka_unit_test(rsockets_are_refused),
        cmocka_unit_test(devices_are_listed),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
