// SPDX-License-Identifier: BSD-3-Clause
#include "peers.hpp"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>

#include <utility>

namespace fabric::test {
namespace {

constexpr std::uint32_t kWorkRequests = 8;

bool readable(int fd, int timeout_ms) {
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&waiting, 1, timeout_ms) == 1;
}

}  // namespace

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

sockaddr* generic(sockaddr_in& address) {
    return static_cast<sockaddr*>(static_cast<void*>(&address));
}

Events::Events() : channel_(rdma_create_event_channel()) {
    assert_non_null(channel_);
}

Events::~Events() {
    rdma_destroy_event_channel(channel_);
}

EventPtr Events::expect(rdma_cm_event_type type) const {
    assert_true(readable(channel_->fd, kPatienceMs));
    rdma_cm_event* event = nullptr;
    assert_int_equal(rdma_get_cm_event(channel_, &event), 0);
    assert_string_equal(rdma_event_str(event->event), rdma_event_str(type));
    return EventPtr(event);
}

bool Events::empty() const {
    return !readable(channel_->fd, 0);
}

Peer::Peer(rdma_event_channel* channel, rdma_port_space space) : id_(nullptr) {
    assert_int_equal(rdma_create_id(channel, &id_, nullptr, space), 0);
}

Peer& Peer::operator=(Peer&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
}

void Peer::reset() {
    rdma_cm_id* const id = std::exchange(id_, nullptr);
    if (id == nullptr)
        return;
    if (id->qp != nullptr)
        rdma_destroy_qp(id);
    assert_int_equal(rdma_destroy_id(id), 0);
}

void Peer::make_pair() {
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_RC;
    attr.cap.max_send_wr = attr.cap.max_recv_wr = kWorkRequests;
    attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
    assert_int_equal(rdma_create_qp(id_, nullptr, &attr), 0);
}

ibv_qp_attr Peer::attributes() const {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    assert_int_equal(ibv_query_qp(id_->qp, &attr, IBV_QP_STATE, &init), 0);
    return attr;
}

Server::Server(int backlog) : id(events.channel()) {
    sockaddr_in any_port = loopback(0);
    assert_int_equal(rdma_bind_addr(id.get(), generic(any_port)), 0);
    assert_int_equal(rdma_listen(id.get(), backlog), 0);
}

std::uint16_t Server::port() const {
    return ntohs(rdma_get_src_port(id.get()));
}

Peer Server::request(std::vector<std::uint8_t>* data) const {
    const EventPtr event = events.expect(RDMA_CM_EVENT_CONNECT_REQUEST);
    if (data != nullptr) {
        const auto* const bytes = static_cast<const std::uint8_t*>(event->param.conn.private_data);
        data->assign(bytes, bytes + event->param.conn.private_data_len);
    }
    assert_ptr_equal(event->listen_id, id.get());
    return Peer(event->id);
}

Client::Client(std::uint16_t port, bool with_pair) : id(events.channel()) {
    sockaddr_in to = loopback(port);
    assert_int_equal(rdma_resolve_addr(id.get(), nullptr, generic(to), 1000), 0);
    events.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_int_equal(rdma_resolve_route(id.get(), 1000), 0);
    events.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    if (with_pair)
        id.make_pair();
}

int Client::connect(const std::string& data) const {
    rdma_conn_param param = parameters(data);
    return rdma_connect(id.get(), &param);
}

rdma_conn_param parameters(const std::string& data) {
    rdma_conn_param param{};
    param.private_data = data.empty() ? nullptr : data.data();
    param.private_data_len = static_cast<std::uint8_t>(data.size());
    param.responder_resources = RDMA_MAX_RESP_RES;
    param.initiator_depth = RDMA_MAX_INIT_DEPTH;
    param.retry_count = 7;
    param.rnr_retry_count = 7;
    return param;
}

rdma_conn_param parameters() {
    static const std::string nothing;
    return parameters(nothing);
}

Connection::Connection() : client(server.port()) {
    assert_int_equal(client.connect(), 0);
    accepted = server.request();
    accepted.make_pair();
    rdma_conn_param param = parameters();
    assert_int_equal(rdma_accept(accepted.get(), &param), 0);
    client.events.expect(RDMA_CM_EVENT_ESTABLISHED);
    server.events.expect(RDMA_CM_EVENT_ESTABLISHED);
}

int open_descriptors() {
    DIR* const directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    int count = 0;
    while (readdir(directory) != nullptr)
        ++count;
    closedir(directory);
    return count;
}

}  // namespace fabric::test
