// SPDX-License-Identifier: BSD-3-Clause
// Both ends of connections in one process, over loopback.
#pragma once

#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cmocka.hpp"

namespace fabric::test {

// Only against hanging; nothing here should take long.
inline constexpr int kPatienceMs = 20'000;

struct Acknowledge {
    void operator()(rdma_cm_event* event) const { rdma_ack_cm_event(event); }
};
using EventPtr = std::unique_ptr<rdma_cm_event, Acknowledge>;

sockaddr_in loopback(std::uint16_t port);
sockaddr* generic(sockaddr_in& address);

class Events {
public:
    Events();
    ~Events();
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    rdma_event_channel* channel() const { return channel_; }
    // The next event, which must be of this type.
    EventPtr expect(rdma_cm_event_type type) const;
    bool empty() const;  // nothing to be read now

private:
    rdma_event_channel* channel_;
};

// An id with its queue pair, destroyed with it.
class Peer {
public:
    explicit Peer(rdma_event_channel* channel, rdma_port_space space = RDMA_PS_TCP);
    Peer() : id_(nullptr) {}
    explicit Peer(rdma_cm_id* id) : id_(id) {}
    Peer(Peer&& other) noexcept : id_(std::exchange(other.id_, nullptr)) {}
    Peer& operator=(Peer&& other) noexcept;
    ~Peer() { reset(); }

    rdma_cm_id* get() const { return id_; }
    rdma_cm_id* operator->() const { return id_; }
    void reset();
    void make_pair();
    ibv_qp_attr attributes() const;  // of the queue pair, as ibv_query_qp tells them

private:
    rdma_cm_id* id_;
};

// Listens on a free port of 127.0.0.1.
struct Server {
    explicit Server(int backlog = 0);
    std::uint16_t port() const;
    // The next connect request; its private data, if asked for.
    Peer request(std::vector<std::uint8_t>* data = nullptr) const;

    Events events;
    Peer id;
};

// Resolved to the server, with a queue pair unless told otherwise.
struct Client {
    explicit Client(std::uint16_t port, bool with_pair = true);
    int connect(const std::string& data = {}) const;

    Events events;
    Peer id;
};

// Points to the data, which must live on.
rdma_conn_param parameters(const std::string& data);
rdma_conn_param parameters(std::string&& data) = delete;
rdma_conn_param parameters();

// A client and a server's id with an established connection.
struct Connection {
    Connection();
    Server server;
    Client client;
    Peer accepted;
};

int open_descriptors();  // of this process

}  // namespace fabric::test
