// SPDX-License-Identifier: BSD-3-Clause
// Attackers on bare sockets, among them a session changed in 10,000 ways, against a server that
// serves an honest client at the same time. Whatever they do, the honest connection goes on, no
// byte outside of the registered memory changes, and nothing is left of them.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "peers.hpp"
#include "wire/cm.hpp"
#include "wire/packet.hpp"

using namespace fabric::test;
namespace wire = fabric::wire;

namespace {

using Bytes = std::vector<std::byte>;

constexpr int kMutations = 10'000;
constexpr std::size_t kGuard = 4096;
constexpr std::size_t kMemory = 8192;
constexpr std::byte kPoison{0xc3};
constexpr int kRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                        IBV_ACCESS_REMOTE_ATOMIC;
constexpr std::uint32_t kFirstPsn = 100;

void append(Bytes& out, const wire::Header& header, std::span<const std::byte> payload) {
    std::array<std::byte, wire::kMaxHeaderBytes> encoded;
    const std::size_t size = wire::encode(header, encoded);
    const std::size_t length = size + payload.size() + header.pad;
    for (const unsigned shift : {24U, 16U, 8U, 0U})
        out.push_back(static_cast<std::byte>(length >> shift));
    out.insert(out.end(), encoded.begin(), encoded.begin() + static_cast<std::ptrdiff_t>(size));
    out.insert(out.end(), payload.begin(), payload.end());
    out.insert(out.end(), header.pad, std::byte{0});
}

void append(Bytes& out, const wire::CmBody& body) {
    wire::Header header;
    header.opcode = wire::Opcode::UdSendOnly;
    header.destination_qp = header.source_qp = wire::kCmQpNumber;
    header.q_key = wire::kCmQKey;
    append(out, header, wire::encode({.transaction = 77, .body = body}));
}

// Memory of the server: registered in the middle, poison around it.
struct Target {
    explicit Target(ibv_pd* pd)
        : block(kMemory + 2 * kGuard, kPoison),
          mr(ibv_reg_mr(pd, block.data() + kGuard, kMemory, kRights)) {
        assert_non_null(mr);
    }
    ~Target() { ibv_dereg_mr(mr); }
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(mr->addr); }
    bool unhurt() const {
        const std::span all(block);
        const auto poisoned = [](std::byte byte) { return byte == kPoison; };
        return std::ranges::all_of(all.first(kGuard), poisoned) &&
               std::ranges::all_of(all.last(kGuard), poisoned);
    }

    Bytes block;
    ibv_mr* mr;
};

Bytes greeting(std::uint16_t port) {
    wire::CmRequest request;
    request.local_id = 4711;
    request.service_id = (static_cast<std::uint64_t>(RDMA_PS_TCP) << 16) + port;
    request.qp_number = 99;
    request.starting_psn = kFirstPsn;
    request.mtu_code = 5;
    request.responder_resources = request.initiator_depth = 4;
    request.private_data[1] = std::byte{0x40};
    Bytes out;
    append(out, request);
    return out;
}

// Everything a requester sends, and some answers nobody asked for.
Bytes requests(const Target& target, std::uint32_t qp, std::uint32_t id) {
    Bytes out;
    append(out, wire::CmReadyToUse{4711, id});
    const Bytes payload(256, std::byte{0x77});
    std::uint32_t psn = kFirstPsn;
    const auto add = [&](wire::Opcode opcode, std::size_t size, std::uint32_t length) {
        wire::Header header;
        header.opcode = opcode;
        header.destination_qp = qp;
        header.psn = psn++;
        header.ack_request = true;
        header.remote_address = target.address();
        header.rkey = target.mr->rkey;
        header.dma_length = length;
        header.syndrome = 0x1f;
        append(out, header, std::span(payload).first(size));
    };
    add(wire::Opcode::WriteOnly, 8, 8);
    add(wire::Opcode::ReadRequest, 0, 64);
    add(wire::Opcode::FetchAdd, 0, 0);
    add(wire::Opcode::CompareSwap, 0, 0);
    add(wire::Opcode::WriteOnly, 256, 256);
    add(wire::Opcode::ReadResponseOnly, 64, 0);
    --psn;
    add(wire::Opcode::ReadRequest, 0, 256);
    append(out, wire::CmDisconnectRequest{4711, id, qp});
    return out;
}

class RawPeer {
public:
    explicit RawPeer(std::uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in to = loopback(port);
        assert_int_equal(connect(fd_, generic(to), sizeof to), 0);
    }
    ~RawPeer() { close(fd_); }
    RawPeer(const RawPeer&) = delete;
    RawPeer& operator=(const RawPeer&) = delete;

    void send(std::span<const std::byte> bytes) const {
        static_cast<void>(!::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    }
    // False: the server has ended the connection.
    bool receive(wire::CmMessage& out) const {
        std::array<std::byte, 4 + 20 + wire::kMadBytes> frame{};
        if (recv(fd_, frame.data(), frame.size(), MSG_WAITALL) !=
            static_cast<ssize_t>(frame.size()))
            return false;
        const auto message = wire::decode_cm(std::span(frame).subspan(24));
        assert_true(message.has_value());
        out = *message;
        return true;
    }

private:
    int fd_;
};

// Accepts whoever comes and lets everyone go again.
class Host {
public:
    Host() : target_(device_pd()), thread_([this] { serve(); }) {}
    ~Host() {
        stop_ = true;
        thread_.join();
        ids_.clear();
    }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    const Target& target() const { return target_; }
    std::uint16_t port() const { return server_.port(); }

private:
    // Every id of the fabric's device has the same protection domain.
    static ibv_pd* device_pd() {
        const Server other;
        const Client client(other.port(), false);
        return client.id->pd;
    }

    void serve() {
        while (!stop_) {
            pollfd readable = {server_.events.channel()->fd, POLLIN, 0};
            if (poll(&readable, 1, 20) == 1)
                handle();
        }
    }
    void handle() {
        rdma_cm_event* event = nullptr;
        assert_int_equal(rdma_get_cm_event(server_.events.channel(), &event), 0);
        rdma_cm_id* const id = event->id;
        const auto type = event->event;
        rdma_ack_cm_event(event);
        if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
            Peer& fresh = ids_.emplace_back(id);
            fresh.make_pair();
            rdma_accept(id, nullptr);  // the peer may be gone already
        } else if (type != RDMA_CM_EVENT_ESTABLISHED) {
            std::erase_if(ids_, [id](const Peer& peer) { return peer.get() == id; });
        }
        if (ids_.size() > kKept)
            ids_.erase(ids_.begin() + 1);  // the first is the honest one's
    }

    static constexpr std::size_t kKept = 32;
    Server server_;
    Target target_;
    std::vector<Peer> ids_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

// Bytes that change, go, come twice or are cut off.
void mutate(Bytes& bytes, std::mt19937& random) {
    const std::size_t place = random() % bytes.size();
    const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(place);
    const std::size_t count = std::min<std::size_t>(random() % 32 + 1, bytes.size() - place);
    const auto end = at + static_cast<std::ptrdiff_t>(count);
    switch (random() % 6) {
        case 0:
            *at ^= static_cast<std::byte>(1U << random() % 8);
            break;
        case 1:
            *at = static_cast<std::byte>(random());
            break;
        case 2:
            std::generate(at, end, [&] { return static_cast<std::byte>(random()); });
            break;
        case 3:
            bytes.erase(at, end);
            break;
        case 4: {
            const Bytes again(at, end);
            bytes.insert(at, again.begin(), again.end());
            break;
        }
        default:
            bytes.resize(place);
    }
}

// Asks for a connection. False: the server has ended it.
bool greet(const Host& host, const RawPeer& peer, wire::CmReply& out) {
    peer.send(greeting(host.port()));
    wire::CmMessage message;
    while (peer.receive(message)) {
        if (const auto* const reply = std::get_if<wire::CmReply>(&message.body)) {
            out = *reply;
            return true;
        }
    }
    return false;
}

void play(const Host& host, std::mt19937& random) {
    const RawPeer peer(host.port());
    Bytes hello = greeting(host.port());
    if (random() % 8 == 0) {
        mutate(hello, random);
        peer.send(hello);
        return;
    }
    wire::CmReply reply;
    if (!greet(host, peer, reply))
        return;
    Bytes rest = requests(host.target(), reply.qp_number, reply.local_id);
    for (std::size_t changes = random() % 3 + 1; changes > 0 && !rest.empty(); --changes)
        mutate(rest, random);
    peer.send(rest);
}

class Honest {
public:
    explicit Honest(const Host& host) : client_(host.port()), host_(host) {
        assert_int_equal(client_.connect(), 0);
        client_.events.expect(RDMA_CM_EVENT_ESTABLISHED);
        mr_ = ibv_reg_mr(client_.id->pd, words_.data(), sizeof words_, kRights);
    }
    ~Honest() { ibv_dereg_mr(mr_); }
    Honest(const Honest&) = delete;
    Honest& operator=(const Honest&) = delete;

    // At a place that the attackers' honest requests do not name.
    void exchange(std::uint64_t value) {
        words_ = {value, 0};
        transfer(IBV_WR_RDMA_WRITE, 0);
        transfer(IBV_WR_RDMA_READ, 1);
        assert_int_equal(words_[1], value);
    }

private:
    void transfer(ibv_wr_opcode opcode, std::size_t word) {
        ibv_sge sge{reinterpret_cast<std::uintptr_t>(&words_[word]), 8, mr_->lkey};
        ibv_send_wr wr{};
        wr.opcode = opcode;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.wr.rdma.remote_addr = host_.target().address() + kMemory - 8;
        wr.wr.rdma.rkey = host_.target().mr->rkey;
        ibv_send_wr* bad = nullptr;
        assert_int_equal(ibv_post_send(client_.id->qp, &wr, &bad), 0);
        ibv_wc wc{};
        while (ibv_poll_cq(client_.id->qp->send_cq, 1, &wc) == 0)
            std::this_thread::yield();
        assert_int_equal(wc.status, IBV_WC_SUCCESS);
    }

    Client client_;
    const Host& host_;
    std::array<std::uint64_t, 2> words_{};
    ibv_mr* mr_ = nullptr;
};

void mutations_of_a_session(void**) {
    const Host host;
    Honest honest(host);
    std::mt19937 random(20260);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same ones every time
    for (int round = 0; round < kMutations; ++round) {
        play(host, random);
        if (round % 100 == 0) {
            honest.exchange(static_cast<std::uint64_t>(round) + 1);
            assert_true(host.target().unhurt());
        }
    }
    honest.exchange(kMutations + 1);
    assert_true(host.target().unhurt());
}

// Asks for far more than a socket holds and reads nothing of it.
void a_peer_that_never_reads(void**) {
    const Host host;
    Honest honest(host);
    const RawPeer peer(host.port());
    wire::CmReply reply;
    assert_true(greet(host, peer, reply));
    Bytes asking;
    append(asking, wire::CmReadyToUse{4711, reply.local_id});
    for (std::uint32_t i = 0; i < 3000; ++i) {
        wire::Header header;
        header.opcode = wire::Opcode::ReadRequest;
        header.destination_qp = reply.qp_number;
        header.psn = kFirstPsn + 2 * i;  // 8192 bytes are two packets of 4096
        header.remote_address = host.target().address();
        header.rkey = host.target().mr->rkey;
        header.dma_length = kMemory;
        append(asking, header, {});
    }
    peer.send(asking);
    for (std::uint64_t value = 1; value <= 100; ++value)
        honest.exchange(value);
}

// Connections on which nothing ever comes, and some that stop in the middle of their first frame.
void half_open_connections(void**) {
    const Host host;
    Honest honest(host);
    std::vector<std::unique_ptr<RawPeer>> peers;
    const Bytes hello = greeting(host.port());
    for (std::size_t i = 0; i < 200; ++i) {
        peers.push_back(std::make_unique<RawPeer>(host.port()));
        peers.back()->send(std::span(hello).first(i));
        honest.exchange(i + 1);
    }
}

void no_descriptor_is_left(void**) {
    { const Connection warm_up; }
    const int before = open_descriptors();
    {
        const Host host;
        std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same ones every time
        for (int round = 0; round < 300; ++round)
            play(host, random);
    }
    int after = open_descriptors();
    for (int i = 0; i < 400 && after > before; ++i) {  // closed links linger a little
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        after = open_descriptors();
    }
    assert_true(after <= before);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(mutations_of_a_session),
        cmocka_unit_test(a_peer_that_never_reads),
        cmocka_unit_test(half_open_connections),
        cmocka_unit_test(no_descriptor_is_left),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
