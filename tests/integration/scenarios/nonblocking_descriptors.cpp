// SPDX-License-Identifier: BSD-3-Clause
// Every descriptor the library gives works with epoll and O_NONBLOCK: level-triggered, and empty
// means "nothing yet".
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = 256;

class Epoll {
public:
    Epoll() : fd_(epoll_create1(EPOLL_CLOEXEC)) { CHECK(fd_ >= 0); }
    ~Epoll() { close(fd_); }
    Epoll(const Epoll&) = delete;
    Epoll& operator=(const Epoll&) = delete;

    void add(int fd) const {
        CHECK(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0);
        epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
        CHECK(epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event) == 0);
    }
    // The descriptor that is ready; -1: none within the limit.
    int wait(int limit_ms) const {
        epoll_event event{};
        const int ready = epoll_wait(fd_, &event, 1, limit_ms);
        CHECK(ready >= 0);
        return ready == 0 ? -1 : event.data.fd;
    }
    void expect(int fd) const {
        CHECK_EQ(wait(20000 * it::time_scale()), fd);
        CHECK_EQ(wait(0), fd);  // still, since nothing was read
    }
    void expect_quiet() const { CHECK_EQ(wait(0), -1); }

private:
    int fd_;
};

void expect_no_event(rpma_conn* connection) {
    rpma_conn_event event = RPMA_CONN_UNDEFINED;
    CHECK_CODE(rpma_conn_next_event(connection, &event), RPMA_E_NO_EVENT);
    CHECK_EQ(event, RPMA_CONN_UNDEFINED);
}

rpma_conn_event wait_event(const Epoll& epoll, rpma_conn* connection, int fd) {
    epoll.expect(fd);
    rpma_conn_event event = RPMA_CONN_UNDEFINED;
    CHECK_OK(rpma_conn_next_event(connection, &event));
    return event;
}

void expect_no_request(rpma_ep* endpoint) {
    rpma_conn_req* request = nullptr;
    CHECK_CODE(rpma_ep_next_conn_req(endpoint, nullptr, &request), RPMA_E_NO_EVENT);
    CHECK(request == nullptr);
}

struct Watched {
    it::Connection connection;
    int event_fd = -1;
    int cq_fd = -1;
};

Watched start(it::Request request, const Epoll& epoll) {
    rpma_conn_req* raw = request.release();
    rpma_conn* connection = nullptr;
    CHECK_OK(rpma_conn_req_connect(&raw, nullptr, &connection));
    Watched watched{.connection = it::Connection(connection)};
    CHECK_OK(rpma_conn_get_event_fd(connection, &watched.event_fd));
    CHECK_OK(rpma_cq_get_fd(it::main_cq(connection), &watched.cq_fd));
    epoll.add(watched.event_fd);
    epoll.add(watched.cq_fd);
    CHECK_EQ(wait_event(epoll, connection, watched.event_fd), RPMA_CONN_ESTABLISHED);
    expect_no_event(connection);
    CHECK_CODE(rpma_cq_wait(it::main_cq(connection)), RPMA_E_NO_COMPLETION);
    return watched;
}

void take_completion(const Epoll& epoll, const Watched& watched, ibv_wc_opcode opcode) {
    epoll.expect(watched.cq_fd);
    CHECK_OK(rpma_cq_wait(it::main_cq(watched.connection.get())));
    it::expect_done(watched.connection.get(), opcode, it::context(1));
    epoll.expect_quiet();
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), kSize, RPMA_MR_USAGE_RECV);
    rpma_ep* raw = nullptr;
    CHECK_OK(rpma_ep_listen(peer.get(), role.address.c_str(), role.port.c_str(), &raw));
    const it::Endpoint endpoint(raw);
    const Epoll epoll;
    int fd = -1;
    CHECK_OK(rpma_ep_get_fd(endpoint.get(), &fd));
    epoll.add(fd);
    epoll.expect_quiet();
    expect_no_request(endpoint.get());
    role.peer().signal("listening");
    epoll.expect(fd);
    rpma_conn_req* request = nullptr;
    CHECK_OK(rpma_ep_next_conn_req(endpoint.get(), nullptr, &request));
    epoll.expect_quiet();
    CHECK_OK(rpma_conn_req_recv(request, region.mr(), 0, kSize, it::context(1)));
    const Watched watched = start(it::Request(request), epoll);
    role.peer().signal("established");
    take_completion(epoll, watched, IBV_WC_RECV);
    role.peer().signal("received");
    CHECK_EQ(wait_event(epoll, watched.connection.get(), watched.event_fd), RPMA_CONN_CLOSED);
}

void client(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    const it::Region region(peer.get(), kSize, RPMA_MR_USAGE_SEND);
    const Epoll epoll;
    role.peer().await("listening");
    const Watched watched = start(it::new_request(role, peer.get()), epoll);
    role.peer().await("established");
    CHECK_OK(rpma_send(watched.connection.get(), region.mr(), 0, kSize, RPMA_F_COMPLETION_ALWAYS,
                       it::context(1)));
    take_completion(epoll, watched, IBV_WC_SEND);
    role.peer().await("received");
    CHECK_OK(rpma_conn_disconnect(watched.connection.get()));
    CHECK_EQ(wait_event(epoll, watched.connection.get(), watched.event_fd), RPMA_CONN_CLOSED);
}
