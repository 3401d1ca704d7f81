// SPDX-License-Identifier: BSD-3-Clause
// How connections end: by one side, by both, without a word, and with rubbish.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "peers.hpp"
#include "wire/cm.hpp"
#include "wire/packet.hpp"

using namespace fabric::test;
namespace wire = fabric::wire;

namespace {

void one_side_disconnects(void**) {
    Connection c;
    assert_int_equal(rdma_disconnect(c.client.id.get()), 0);
    assert_int_equal(c.client.id.attributes().qp_state, IBV_QPS_ERR);
    assert_int_equal(c.server.events.expect(RDMA_CM_EVENT_DISCONNECTED)->status, 0);
    // The peer's queue pair is not flushed before its program says so, nor is the peer's answer
    // given.
    assert_int_equal(c.accepted.attributes().qp_state, IBV_QPS_RTS);
    assert_true(c.client.events.empty());
    assert_int_equal(rdma_disconnect(c.accepted.get()), 0);
    assert_int_equal(c.accepted.attributes().qp_state, IBV_QPS_ERR);
    assert_int_equal(c.client.events.expect(RDMA_CM_EVENT_DISCONNECTED)->status, 0);
    c.server.events.expect(RDMA_CM_EVENT_TIMEWAIT_EXIT);
    c.client.events.expect(RDMA_CM_EVENT_TIMEWAIT_EXIT);
    assert_int_equal(rdma_disconnect(c.client.id.get()), 0);
    assert_true(c.server.events.empty());
    assert_true(c.client.events.empty());
}

void the_accepting_side_disconnects(void**) {
    Connection c;
    assert_int_equal(rdma_disconnect(c.accepted.get()), 0);
    c.client.events.expect(RDMA_CM_EVENT_DISCONNECTED);
    assert_int_equal(rdma_disconnect(c.client.id.get()), 0);
    c.server.events.expect(RDMA_CM_EVENT_DISCONNECTED);
}

void destroying_answers_a_disconnect(void**) {
    Connection c;
    assert_int_equal(rdma_disconnect(c.client.id.get()), 0);
    c.server.events.expect(RDMA_CM_EVENT_DISCONNECTED);
    c.accepted.reset();
    assert_int_equal(c.client.events.expect(RDMA_CM_EVENT_DISCONNECTED)->status, 0);
}

// Who asked gives up and goes: the other side was told already, and has waited long enough.
void an_asking_side_that_goes(void**) {
    Connection c;
    assert_int_equal(rdma_disconnect(c.client.id.get()), 0);
    c.server.events.expect(RDMA_CM_EVENT_DISCONNECTED);
    c.client.id.reset();
    c.server.events.expect(RDMA_CM_EVENT_TIMEWAIT_EXIT);
    assert_int_equal(rdma_disconnect(c.accepted.get()), 0);
    assert_true(c.server.events.empty());
}

void both_sides_disconnect_at_once(void**) {
    for (int round = 0; round < 50; ++round) {
        Connection c;
        std::thread other([&c] { assert_int_equal(rdma_disconnect(c.accepted.get()), 0); });
        assert_int_equal(rdma_disconnect(c.client.id.get()), 0);
        other.join();
        c.client.events.expect(RDMA_CM_EVENT_DISCONNECTED);
        c.server.events.expect(RDMA_CM_EVENT_DISCONNECTED);
    }
}

void destroying_disconnects_the_peer(void**) {
    Connection c;
    c.client.id.reset();
    c.server.events.expect(RDMA_CM_EVENT_DISCONNECTED);
    assert_int_equal(rdma_disconnect(c.accepted.get()), 0);
    c.server.events.expect(RDMA_CM_EVENT_TIMEWAIT_EXIT);
    assert_true(c.server.events.empty());
}

void disconnecting_before_hearing_of_the_connection(void**) {
    Server server;
    Client client(server.port());
    assert_int_equal(client.connect(), 0);
    Peer accepted = server.request();
    accepted.make_pair();
    assert_int_equal(rdma_accept(accepted.get(), nullptr), 0);
    assert_int_equal(rdma_disconnect(accepted.get()), 0);
    server.events.expect(RDMA_CM_EVENT_ESTABLISHED);
    server.events.expect(RDMA_CM_EVENT_DISCONNECTED);
    client.events.expect(RDMA_CM_EVENT_ESTABLISHED);
    client.events.expect(RDMA_CM_EVENT_DISCONNECTED);
}

void nothing_comes_after_destroying(void**) {
    Connection c;
    assert_int_equal(rdma_disconnect(c.client.id.get()), 0);
    c.client.id.reset();
    c.server.events.expect(RDMA_CM_EVENT_DISCONNECTED);
    c.server.events.expect(RDMA_CM_EVENT_TIMEWAIT_EXIT);  // the client's would be due by now
    assert_true(c.client.events.empty());
}

// A peer made of a bare socket, to do what no honest one does.
class RawPeer {
public:
    explicit RawPeer(int fd) : fd_(fd) { assert_true(fd >= 0); }
    ~RawPeer() { close(fd_); }
    RawPeer(const RawPeer&) = delete;
    RawPeer& operator=(const RawPeer&) = delete;

    static int connected_to(std::uint16_t port) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in to = loopback(port);
        assert_int_equal(connect(fd, generic(to), sizeof to), 0);
        return fd;
    }

    void send_bytes(std::span<const std::byte> bytes) const {
        assert_int_equal(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), bytes.size());
    }

    void send_mad(std::span<const std::byte> mad) const {
        wire::Header header;
        header.opcode = wire::Opcode::UdSendOnly;
        header.destination_qp = header.source_qp = wire::kCmQpNumber;
        header.q_key = wire::kCmQKey;
        std::vector<std::byte> frame(4 + wire::header_bytes(header.opcode) + mad.size());
        const std::size_t length = frame.size() - 4;
        frame[2] = static_cast<std::byte>(length >> 8);
        frame[3] = static_cast<std::byte>(length);
        const std::size_t used = wire::encode(header, std::span(frame).subspan(4));
        std::memcpy(frame.data() + 4 + used, mad.data(), mad.size());
        send_bytes(frame);
    }

    void send_message(const wire::CmBody& body) const {
        send_mad(wire::encode({.transaction = 77, .body = body}));
    }

    wire::CmMessage receive_message() const {
        std::array<std::byte, 4 + 20 + wire::kMadBytes> frame{};
        assert_int_equal(recv(fd_, frame.data(), frame.size(), MSG_WAITALL), frame.size());
        const auto message = wire::decode_cm(std::span(frame).subspan(24));
        assert_true(message.has_value());
        return *message;
    }

    bool at_end() const {
        std::byte byte;
        return recv(fd_, &byte, 1, 0) <= 0;
    }

private:
    int fd_;
};

wire::CmRequest request_to(std::uint16_t port) {
    wire::CmRequest request;
    request.local_id = 4711;
    request.service_id = (static_cast<std::uint64_t>(RDMA_PS_TCP) << 16) + port;
    request.qp_number = 99;
    request.mtu_code = 5;
    request.private_data[1] = std::byte{0x40};
    return request;
}

void a_peer_that_vanishes_disconnects(void**) {
    Server server;
    auto peer = std::make_unique<RawPeer>(RawPeer::connected_to(server.port()));
    peer->send_message(request_to(server.port()));
    Peer accepted = server.request();
    accepted.make_pair();
    assert_int_equal(rdma_accept(accepted.get(), nullptr), 0);
    assert_true(std::holds_alternative<wire::CmMessageReceipt>(peer->receive_message().body));
    const auto answer = peer->receive_message();
    const auto* const reply = std::get_if<wire::CmReply>(&answer.body);
    assert_non_null(reply);
    assert_int_equal(answer.transaction, 77);
    assert_int_equal(reply->remote_id, 4711);
    assert_int_equal(reply->qp_number, accepted->qp->qp_num);
    peer->send_message(wire::CmReadyToUse{4711, reply->local_id});
    server.events.expect(RDMA_CM_EVENT_ESTABLISHED);
    peer.reset();
    server.events.expect(RDMA_CM_EVENT_DISCONNECTED);
}

void set_state(const Peer& peer, ibv_qp_state state) {
    ibv_qp_attr attr{};
    attr.qp_state = state;
    assert_int_equal(ibv_modify_qp(peer->qp, &attr, IBV_QP_STATE), 0);
}

void write_nothing(const Peer& peer) {
    ibv_send_wr wr{};
    ibv_send_wr* bad = nullptr;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    assert_int_equal(ibv_post_send(peer->qp, &wr, &bad), 0);
}

ibv_wc_status next_status(const Peer& peer) {
    ibv_wc wc{};
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
    while (ibv_poll_cq(peer->send_cq, 1, &wc) == 0 && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return wc.status;
}

// Its id lives on, so the connection does; but nobody answers the peer's requests any more.
void requests_to_a_pair_that_is_no_longer_ready_end(void**) {
    enum class How { Reset, Destroyed, DestroyedWhileAsked };
    for (const How how : {How::Reset, How::Destroyed, How::DestroyedWhileAsked}) {
        Connection c;
        if (how == How::DestroyedWhileAsked) {
            set_state(c.accepted, IBV_QPS_ERR);
            write_nothing(c.client.id);
            std::this_thread::sleep_for(std::chrono::milliseconds(50));  // has come by then
        }
        if (how == How::Reset)
            set_state(c.accepted, IBV_QPS_RESET);
        else
            rdma_destroy_qp(c.accepted.get());
        if (how != How::DestroyedWhileAsked)
            write_nothing(c.client.id);
        assert_int_equal(next_status(c.client.id), IBV_WC_RETRY_EXC_ERR);
    }
}

// A write that asked for no answer is done nevertheless.
void a_pair_that_goes_acknowledges_what_has_come(void**) {
    Connection c;
    ibv_send_wr wr{};
    ibv_send_wr* bad = nullptr;
    wr.opcode = IBV_WR_RDMA_WRITE;
    assert_int_equal(ibv_post_send(c.client.id->qp, &wr, &bad), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    rdma_destroy_qp(c.accepted.get());
    std::this_thread::sleep_for(std::chrono::seconds(3));  // a link that was given up would be gone
    ibv_wc wc{};
    assert_int_equal(ibv_poll_cq(c.client.id->send_cq, 1, &wc), 0);
    assert_true(c.client.events.empty());
}

void a_peer_that_vanishes_before_accepting(void**) {
    Server server;
    auto peer = std::make_unique<RawPeer>(RawPeer::connected_to(server.port()));
    peer->send_message(request_to(server.port()));
    Peer accepted = server.request();
    accepted.make_pair();
    peer.reset();
    ibv_qp_attr attr{};
    int mask = 0;
    do  // until this side has seen it
        attr.qp_state = IBV_QPS_RTR;
    while (rdma_init_qp_attr(accepted.get(), &attr, &mask) == 0);
    assert_int_equal(rdma_reject(accepted.get(), nullptr, 0), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(rdma_accept(accepted.get(), nullptr), -1);
    assert_int_equal(errno, EINVAL);
    assert_true(server.events.empty());
}

void a_peer_that_vanishes_before_the_last_message(void**) {
    Server server;
    auto peer = std::make_unique<RawPeer>(RawPeer::connected_to(server.port()));
    peer->send_message(request_to(server.port()));
    Peer accepted = server.request();
    accepted.make_pair();
    assert_int_equal(rdma_accept(accepted.get(), nullptr), 0);
    peer.reset();
    server.events.expect(RDMA_CM_EVENT_REJECTED);
}

void requests_that_do_not_fit_are_rejected(void**) {
    Server server;
    struct Case {
        std::uint16_t reason;
        void (*spoil)(wire::CmRequest&);
    };
    const std::array cases = {
        Case{8, [](wire::CmRequest& r) { r.service_id += 1; }},
        Case{8, [](wire::CmRequest& r) { r.private_data[1] = std::byte{0x30}; }},
        Case{8, [](wire::CmRequest& r) { r.private_data[0] = std::byte{1}; }},
        Case{26, [](wire::CmRequest& r) { r.mtu_code = 15; }},
        Case{26, [](wire::CmRequest& r) { r.mtu_code = 0; }},
    };
    for (const Case& c : cases) {
        const RawPeer peer(RawPeer::connected_to(server.port()));
        wire::CmRequest request = request_to(server.port());
        c.spoil(request);
        peer.send_message(request);
        const auto answer = peer.receive_message();
        const auto* const reject = std::get_if<wire::CmReject>(&answer.body);
        assert_non_null(reject);
        assert_int_equal(reject->reason, c.reason);
        assert_int_equal(reject->remote_id, 4711);
        if (c.reason == 26) {  // told what would be accepted, and may ask again
            request.mtu_code = std::to_integer<std::uint8_t>(reject->info[0]);
            peer.send_message(request);
            const Peer accepted = server.request();
        } else {
            assert_true(peer.at_end());
        }
    }
    assert_true(server.events.empty());
}

void rubbish_before_a_request_harms_nobody(void**) {
    Server server;
    std::array<std::byte, 300> noise{};
    for (std::size_t i = 0; i < noise.size(); ++i)
        noise[i] = static_cast<std::byte>(i * 37 + 11);
    const RawPeer peer(RawPeer::connected_to(server.port()));
    peer.send_bytes(noise);
    assert_true(peer.at_end());
    const RawPeer other(RawPeer::connected_to(server.port()));
    other.send_mad(noise);
    assert_true(other.at_end());
    const RawPeer early(RawPeer::connected_to(server.port()));
    early.send_message(wire::CmReadyToUse{1, 2});
    early.send_message(wire::CmDisconnectRequest{1, 2, 3});
    early.send_message(request_to(server.port()));
    const Peer accepted = server.request();
    assert_true(server.events.empty());
}

// Listens where a client connects to.
class RawListener {
public:
    RawListener() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address = loopback(0);
        assert_int_equal(bind(fd_, generic(address), sizeof address), 0);
        assert_int_equal(listen(fd_, 8), 0);
    }
    ~RawListener() { close(fd_); }
    RawListener(const RawListener&) = delete;
    RawListener& operator=(const RawListener&) = delete;

    std::uint16_t port() const {
        sockaddr_in address{};
        socklen_t size = sizeof address;
        getsockname(fd_, generic(address), &size);
        return ntohs(address.sin_port);
    }
    int next() const { return accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC); }

private:
    int fd_;
};

wire::CmRequest request_of(const RawPeer& peer) {
    const auto message = peer.receive_message();
    const auto* const request = std::get_if<wire::CmRequest>(&message.body);
    assert_non_null(request);
    return *request;
}

void a_server_that_closes_rejects(void**) {
    const RawListener listener;
    const Client client(listener.port());
    assert_int_equal(client.connect(), 0);
    { const RawPeer peer(listener.next()); }
    assert_int_equal(client.events.expect(RDMA_CM_EVENT_REJECTED)->status, 28);
}

void a_server_that_answers_rubbish_is_an_error(void**) {
    const RawListener listener;
    for (const bool framed : {false, true}) {
        const Client client(listener.port());
        assert_int_equal(client.connect(), 0);
        const RawPeer peer(listener.next());
        const wire::CmRequest request = request_of(peer);
        assert_int_equal(request.service_id, (0x106ULL << 16) + listener.port());
        const std::array<std::byte, 256> noise{std::byte{0xff}, std::byte{0xff}, std::byte{0xff}};
        if (framed)
            peer.send_mad(noise);
        else
            peer.send_bytes(noise);
        assert_true(client.events.expect(RDMA_CM_EVENT_CONNECT_ERROR)->status < 0);
    }
}

void answers_to_others_are_ignored(void**) {
    const RawListener listener;
    Client client(listener.port());
    assert_int_equal(client.connect(), 0);
    const RawPeer peer(listener.next());
    const wire::CmRequest request = request_of(peer);
    wire::CmReply reply;
    reply.local_id = 5;
    reply.remote_id = request.local_id + 1;
    peer.send_message(reply);
    peer.send_message(
        wire::CmReject{.remote_id = request.local_id + 1, .info = {}, .private_data = {}});
    peer.send_message(wire::CmDisconnectRequest{5, request.local_id, 0});
    reply.remote_id = request.local_id;
    reply.qp_number = 1000;
    reply.responder_resources = 255;  // more than any device has
    reply.initiator_depth = 255;
    peer.send_message(reply);
    client.events.expect(RDMA_CM_EVENT_ESTABLISHED);
    assert_true(client.id.attributes().max_rd_atomic < 255);
    assert_true(std::holds_alternative<wire::CmReadyToUse>(peer.receive_message().body));
    peer.send_message(wire::CmDisconnectRequest{5, request.local_id + 1, 0});
    peer.send_message(
        wire::CmReject{.remote_id = request.local_id, .info = {}, .private_data = {}});
    peer.send_message(reply);
    peer.send_message(wire::CmDisconnectRequest{5, request.local_id, 0});
    client.events.expect(RDMA_CM_EVENT_DISCONNECTED);
    assert_int_equal(rdma_disconnect(client.id.get()), 0);
    assert_true(std::holds_alternative<wire::CmDisconnectReply>(peer.receive_message().body));
}

void the_smaller_mtu_is_used(void**) {
    const RawListener listener;
    Client client(listener.port());
    assert_int_equal(client.connect(), 0);
    const RawPeer peer(listener.next());
    wire::CmRequest request = request_of(peer);
    assert_true(request.mtu_code > 3);
    wire::CmReject smaller{.remote_id = request.local_id,
                           .info_length = 1,
                           .reason = 26,
                           .info = {std::byte{3}},
                           .private_data = {}};
    peer.send_message(smaller);
    request = request_of(peer);
    assert_int_equal(request.mtu_code, 3);
    wire::CmReply reply;
    reply.remote_id = request.local_id;
    peer.send_message(reply);
    client.events.expect(RDMA_CM_EVENT_ESTABLISHED);
    assert_int_equal(client.id.attributes().path_mtu, IBV_MTU_1024);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(one_side_disconnects),
        cmocka_unit_test(the_accepting_side_disconnects),
        cmocka_unit_test(destroying_answers_a_disconnect),
        cmocka_unit_test(an_asking_side_that_goes),
        cmocka_unit_test(both_sides_disconnect_at_once),
        cmocka_unit_test(destroying_disconnects_the_peer),
        cmocka_unit_test(disconnecting_before_hearing_of_the_connection),
        cmocka_unit_test(nothing_comes_after_destroying),
        cmocka_unit_test(a_peer_that_vanishes_disconnects),
        cmocka_unit_test(requests_to_a_pair_that_is_no_longer_ready_end),
        cmocka_unit_test(a_pair_that_goes_acknowledges_what_has_come),
        cmocka_unit_test(a_peer_that_vanishes_before_accepting),
        cmocka_unit_test(a_peer_that_vanishes_before_the_last_message),
        cmocka_unit_test(requests_that_do_not_fit_are_rejected),
        cmocka_unit_test(rubbish_before_a_request_harms_nobody),
        cmocka_unit_test(a_server_that_closes_rejects),
        cmocka_unit_test(a_server_that_answers_rubbish_is_an_error),
        cmocka_unit_test(answers_to_others_are_ignored),
        cmocka_unit_test(the_smaller_mtu_is_used),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
