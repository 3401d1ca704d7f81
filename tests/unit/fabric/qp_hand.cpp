// SPDX-License-Identifier: BSD-3-Clause
// Queue pairs connected by hand: with GIDs and queue pair numbers alone.
#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "carrier/link.hpp"
#include "cmocka.hpp"
#include "links.hpp"
#include "queue_pairs.hpp"
#include "verbs/gid.hpp"
#include "verbs/introduction.hpp"
#include "verbs/qp.hpp"
#include "verbs/qp_numbers.hpp"
#include "verbs/qp_registry.hpp"
#include "verbs/queue_pair.hpp"
#include "waiting.hpp"

using fabric::verbs::Introduction;
using verbs_test::Device;
using verbs_test::Node;
namespace qp_numbers = fabric::verbs::qp_numbers;

namespace {

void reset(const Node& node) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RESET;
    assert_int_equal(ibv_modify_qp(node.qp, &attr, IBV_QP_STATE), 0);
}

void exchange(const Node& a, const Node& b) {
    assert_int_equal(b.post_receive(7, 64), 0);
    assert_int_equal(a.post_send(8, 33), 0);
    const ibv_wc received = b.next();
    assert_int_equal(received.status, IBV_WC_SUCCESS);
    assert_int_equal(received.wr_id, 7);
    assert_int_equal(received.byte_len, 33);
    assert_int_equal(received.qp_num, b.qp->qp_num);
    assert_int_equal(a.next().status, IBV_WC_SUCCESS);
}

void both_ways(void**) {
    Device device;
    Node a(device);
    Node b(device);
    verbs_test::connect(a, b);
    for (int i = 0; i < 20; ++i) {
        exchange(a, b);
        exchange(b, a);
    }
}

void in_every_order_of_states(void**) {
    Device device;
    for (int order = 0; order < 4; ++order) {
        Node a(device);
        Node b(device);
        const Node& first = order % 2 == 0 ? a : b;
        const Node& second = order % 2 == 0 ? b : a;
        first.to_init();
        if (order >= 2)
            second.to_init();
        first.to_rtr(second);
        first.to_rts();
        assert_int_equal(first.post_send(1, 16), 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (order < 2)
            second.to_init();
        assert_int_equal(second.post_receive(2, 16), 0);
        second.to_rtr(first);
        assert_int_equal(second.next().wr_id, 2);
        assert_int_equal(first.next().status, IBV_WC_SUCCESS);
    }
}

void with_itself(void**) {
    Device device;
    Node node(device);
    node.to_init();
    node.to_rtr(node);
    node.to_rts();
    for (int i = 0; i < 10; ++i) {
        assert_int_equal(node.post_receive(1, 64), 0);
        assert_int_equal(node.post_send(2, 64), 0);
        bool seen[3] = {};
        for (int k = 0; k < 2; ++k) {
            const ibv_wc wc = node.next();
            assert_int_equal(wc.status, IBV_WC_SUCCESS);
            seen[wc.wr_id] = true;
        }
        assert_true(seen[1] && seen[2]);
    }
}

void numbers_say_where(void**) {
    Device device;
    std::vector<std::unique_ptr<Node>> nodes;
    for (int i = 0; i < 300; ++i)  // more than one port serves
        nodes.push_back(std::make_unique<Node>(device));
    for (const auto& node : nodes) {
        assert_true(qp_numbers::is_reachable(node->qp->qp_num));
        assert_true(node->qp->qp_num <= 0xffffff);
    }
    assert_int_not_equal(qp_numbers::port_of(nodes.front()->qp->qp_num),
                         qp_numbers::port_of(nodes.back()->qp->qp_num));
    verbs_test::connect(*nodes.front(), *nodes.back());
    exchange(*nodes.front(), *nodes.back());
}

void managed_numbers_are_their_own(void**) {
    Device device;
    ibv_cq* const cq = device.make_cq();
    ibv_qp_init_attr_ex init{};
    init.send_cq = init.recv_cq = cq;
    init.cap = {1, 1, 1, 1, 0};
    init.qp_type = IBV_QPT_RC;
    init.comp_mask = IBV_QP_INIT_ATTR_PD;
    init.pd = device.pd;
    ibv_qp* const one = fabric::verbs::create(device.context, &init, true);
    ibv_qp* const two = fabric::verbs::create(device.context, &init, true);
    assert_false(qp_numbers::is_reachable(one->qp_num));
    assert_int_not_equal(one->qp_num, two->qp_num);
    assert_ptr_equal(fabric::verbs::from_handle(one)->handle(), one);
    const ibv_qp* const gone = two;
    assert_int_equal(ibv_destroy_qp(two), 0);
    assert_true(fabric::verbs::from_handle(const_cast<ibv_qp*>(gone)) == nullptr);
    assert_int_equal(ibv_destroy_qp(one), 0);
    assert_int_equal(ibv_destroy_cq(cq), 0);
}

void a_peer_that_goes(void**) {
    Device device;
    Node a(device);
    {
        Node b(device);
        verbs_test::connect(a, b);
        exchange(a, b);
    }
    // The next request finds nobody.
    assert_int_equal(a.post_send(1, 8), 0);
    assert_int_equal(a.post_send(2, 8), 0);
    assert_int_equal(a.next().status, IBV_WC_RETRY_EXC_ERR);
    assert_int_equal(a.next().status, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(a.state(), IBV_QPS_ERR);
}

// An adapter drops what comes for a queue pair in error, and the sender gives up after its retries.
void a_peer_in_error(void**) {
    Device device;
    Node a(device);
    Node b(device);
    verbs_test::connect(a, b);
    exchange(a, b);
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_ERR;
    assert_int_equal(ibv_modify_qp(b.qp, &attr, IBV_QP_STATE), 0);
    assert_int_equal(a.post_write(1, b, 8), 0);
    assert_int_equal(a.post_send(2, 8), 0);
    assert_int_equal(a.next().status, IBV_WC_RETRY_EXC_ERR);
    assert_int_equal(a.next().status, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(a.state(), IBV_QPS_ERR);
}

void nobody_there(void**) {
    Device device;
    Node a(device);
    std::uint32_t number = 0;
    {
        Node other(device);
        number = other.qp->qp_num | 0xff0000;  // some port nobody has, and higher than a's number
    }
    a.to_init();
    ibv_qp_attr attr = verbs_test::rtr_attributes(number, 0);
    assert_int_equal(ibv_query_gid(device.context, 1, 0, &attr.ah_attr.grh.dgid), 0);
    assert_int_equal(ibv_modify_qp(a.qp, &attr, verbs_test::kRtrMask), 0);
    a.to_rts();
    assert_int_equal(a.post_send(1, 8), 0);
    assert_int_equal(a.next().status, IBV_WC_RETRY_EXC_ERR);
}

// Says on a's port what it likes.
class Stranger {
public:
    explicit Stranger(const Node& victim) {
        ibv_gid gid{};
        ibv_query_gid(victim.qp->context, 1, 0, &gid);
        const auto address =
            fabric::verbs::gid::to_address(gid, 0, qp_numbers::port_of(victim.qp->qp_num));
        const auto source = fabric::verbs::gid::to_address(gid, 0, 0);
        assert_int_equal(fabric::carrier::connect(source, address, end_.control, &end_.link), 0);
        assert_true(eventually([&] { return end_.control->ups == 1; }));
    }
    ~Stranger() { end_.link->close(); }
    bool is_here() const { return end_.control->losses == 0; }
    Stranger(const Stranger&) = delete;
    Stranger& operator=(const Stranger&) = delete;

    void say(std::span<const std::byte> mad) const { end_.link->send_datagram(mad); }
    bool sent_away() const {
        return eventually([&] { return end_.control->losses == 1; });
    }

private:
    links::End end_;
};

Introduction introduction(std::uint32_t source, const Node& destination) {
    Introduction made{};
    made.stream_mtu = 32768;
    made.source_qp = source;
    made.destination_qp = destination.qp->qp_num;
    ibv_query_gid(destination.qp->context, 1, 0, &made.source_gid);
    made.destination_gid = made.source_gid;
    return made;
}

void strangers_are_sent_away(void**) {
    Device device;
    auto owned = std::make_unique<Node>(device);
    const Node& a = *owned;
    Node b(device);
    verbs_test::connect(a, b);
    exchange(a, b);
    Introduction wrong = introduction(b.qp->qp_num, a);
    {
        Stranger nonsense(a);
        nonsense.say(links::pattern(256, 1));
        assert_true(nonsense.sent_away());
    }
    {
        Stranger to_nobody(a);
        wrong.destination_qp = a.qp->qp_num ^ 0x80;
        to_nobody.say(fabric::verbs::encode(wrong));
        assert_true(to_nobody.sent_away());
    }
    // Right in everything, but a has its link: this one may be for its time after a reset.
    Stranger too_early(a);
    wrong.destination_qp = a.qp->qp_num;
    too_early.say(fabric::verbs::encode(wrong));
    exchange(a, b);
    exchange(b, a);
    assert_true(too_early.is_here());
    owned.reset();
    assert_true(too_early.sent_away());
}

void strangers_do_not_take_the_place_of_the_peer(void**) {
    Device device;
    Node a(device);
    Node b(device);
    const Node& waits = a.qp->qp_num > b.qp->qp_num ? a : b;
    const Node& calls = &waits == &a ? b : a;
    waits.to_init();
    Introduction wrong = introduction(calls.qp->qp_num + 1, waits);
    Stranger early(waits);
    early.say(fabric::verbs::encode(wrong));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    waits.to_rtr(calls);
    assert_true(early.sent_away());
    waits.to_rts();
    calls.to_init();
    calls.to_rtr(waits);
    calls.to_rts();
    exchange(a, b);
}

// All of them are there before it is known who the peer is.
void strangers_before_and_behind_the_peer(void**) {
    Device device;
    Node a(device);
    Node b(device);
    const Node& waits = a.qp->qp_num > b.qp->qp_num ? a : b;
    const Node& calls = &waits == &a ? b : a;
    waits.to_init();
    Introduction wrong = introduction(calls.qp->qp_num + 1, waits);
    Stranger before(waits);
    before.say(fabric::verbs::encode(wrong));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    calls.to_init();
    calls.to_rtr(waits);
    calls.to_rts();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++wrong.source_qp;
    Stranger behind(waits);
    behind.say(fabric::verbs::encode(wrong));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    waits.to_rtr(calls);
    waits.to_rts();
    assert_true(before.sent_away());
    assert_true(behind.sent_away());
    exchange(a, b);
}

// Only says how often it was closed.
class NoLink final : public fabric::carrier::Link {
public:
    void set_control(std::shared_ptr<fabric::carrier::ControlHandler>) override {}
    void set_packets(std::shared_ptr<fabric::carrier::PacketHandler>) override {}
    void send_datagram(std::span<const std::byte>) override {}
    void kick() override {}
    void push() override {}
    void abandon() override {}
    void release(const fabric::memory::Region*) override {}
    void close() override { ++closed; }
    sockaddr_storage local_address() const override { return {}; }
    sockaddr_storage peer_address() const override { return {}; }
    std::uint64_t id() const override { return 0; }

    int closed = 0;
};

// The caller would wait for ever.
void a_link_that_comes_too_late_is_closed(void**) {
    Device device;
    std::shared_ptr<fabric::verbs::RcQueuePair> qp;
    {
        Node a(device);
        qp = fabric::verbs::qp_registry::by_handle(a.qp);
    }
    const auto link = std::make_shared<NoLink>();
    qp->offer(link, {});
    assert_int_equal(link->closed, 1);
}

void introductions(void**) {
    Introduction out{};
    out.stream_mtu = 4096;
    out.source_qp = 0xabcdef;
    out.destination_qp = 0x123456;
    std::memset(&out.source_gid, 3, sizeof out.source_gid);
    std::memset(&out.destination_gid, 4, sizeof out.destination_gid);
    auto mad = fabric::verbs::encode(out);
    const auto in = fabric::verbs::decode_introduction(mad);
    assert_true(in.has_value());
    assert_int_equal(in->stream_mtu, out.stream_mtu);
    assert_int_equal(in->source_qp, out.source_qp);
    assert_int_equal(in->destination_qp, out.destination_qp);
    assert_memory_equal(&in->source_gid, &out.source_gid, sizeof out.source_gid);
    assert_memory_equal(&in->destination_gid, &out.destination_gid, sizeof out.destination_gid);
    assert_false(fabric::verbs::decode_introduction(std::span(mad).first(255)).has_value());
    for (std::size_t i = 0; i < mad.size(); ++i) {
        // Every byte matters but those of the numbers and GIDs themselves.
        if (i >= 29 && i < 72)
            continue;
        mad[i] ^= std::byte{0x80};
        assert_false(fabric::verbs::decode_introduction(mad).has_value());
        mad[i] ^= std::byte{0x80};
    }
}

void a_full_completion_queue_ends_the_queue_pair(void**) {
    Device device;
    assert_int_equal(fcntl(device.context->async_fd, F_SETFL, O_NONBLOCK), 0);
    Node::Options small;
    small.cq_entries = 2;
    Node a(device);
    Node b(device, small);
    verbs_test::connect(a, b);
    for (std::uint64_t i = 0; i < 4; ++i)
        assert_int_equal(b.post_receive(i, 8), 0);
    for (std::uint64_t i = 0; i < 4; ++i)
        assert_int_equal(a.post_send(i, 8), 0);
    assert_true(eventually([&] { return b.state() == IBV_QPS_ERR; }));
    bool queue = false;
    bool pair = false;
    ibv_async_event event{};
    while (ibv_get_async_event(device.context, &event) == 0) {
        queue = queue || event.event_type == IBV_EVENT_CQ_ERR;
        pair = pair || event.event_type == IBV_EVENT_QP_FATAL;
        ibv_ack_async_event(&event);
    }
    assert_true(queue && pair);
}

// A packet fails, and what it flushes is too much for the CQ; the reset comes before the packet's
// end.
void a_reset_forgets_a_full_completion_queue(void**) {
    Device device;
    Node::Options small;
    small.cq_entries = 1;
    Node b(device);
    Node a(device, small);
    assert_true(a.qp->qp_num > b.qp->qp_num);  // so there is no link before b calls
    a.to_init();
    a.to_rtr(b);
    assert_int_equal(a.post_receive(1, 8), 0);
    assert_int_equal(a.post_receive(2, 8), 0);
    fabric::wire::Header wrong{};
    wrong.opcode = fabric::wire::Opcode::FetchAdd;
    wrong.destination_qp = a.qp->qp_num;
    wrong.psn = verbs_test::first_psn(b.qp);
    const auto qp = fabric::verbs::qp_registry::by_handle(a.qp);
    assert_false(qp->begin(wrong, 0).fatal);
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RESET;
    assert_int_equal(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
    assert_int_equal(a.state(), IBV_QPS_RESET);
    qp->end(true);
    assert_int_equal(a.state(), IBV_QPS_RESET);
}

void nobody_polls(void**) {
    Device device;
    Node a(device);
    Node b(device);
    verbs_test::connect(a, b);
    std::uint64_t posted = 0;
    int error = 0;
    while (error == 0 && posted < 1000)
        if ((error = a.post_write(posted, b, 8)) == 0)
            ++posted;
    assert_int_equal(error, ENOMEM);
    assert_int_equal(posted, 16);
    for (std::uint64_t i = 0; i < posted; ++i)
        assert_int_equal(a.next().wr_id, i);
    assert_int_equal(a.post_write(1, b, 8), 0);
    assert_int_equal(a.next().status, IBV_WC_SUCCESS);
}

void destroying_takes_completions_along(void**) {
    Device device;
    ibv_cq* const shared = device.make_cq();
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = shared;
    init.cap = {4, 4, 1, 1, 0};
    init.qp_type = IBV_QPT_RC;
    ibv_qp* qps[2] = {ibv_create_qp(device.pd, &init), ibv_create_qp(device.pd, &init)};
    for (ibv_qp* const qp : qps) {
        ibv_qp_attr attr = verbs_test::init_attributes();
        assert_int_equal(ibv_modify_qp(qp, &attr, verbs_test::kInitMask), 0);
        ibv_recv_wr wr{};
        ibv_recv_wr* bad = nullptr;
        wr.wr_id = qp->qp_num;
        for (int i = 0; i < 3; ++i)
            assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
        attr.qp_state = IBV_QPS_ERR;
        assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    }
    const std::uint64_t survivor = qps[1]->qp_num;
    assert_int_equal(ibv_destroy_qp(qps[0]), 0);
    ibv_wc wc[8];
    assert_int_equal(ibv_poll_cq(shared, 8, wc), 3);
    for (int i = 0; i < 3; ++i)
        assert_int_equal(wc[i].wr_id, survivor);
    assert_int_equal(ibv_destroy_qp(qps[1]), 0);
    assert_int_equal(ibv_destroy_cq(shared), 0);
}

void says_that_it_is_drained_if_it_is_asked_to(void**) {
    Device device;
    assert_int_equal(fcntl(device.context->async_fd, F_SETFL, O_NONBLOCK), 0);
    Node a(device);
    Node b(device);
    verbs_test::connect(a, b);
    for (const bool asked : {false, true, false}) {
        ibv_qp_attr attr{};
        attr.qp_state = IBV_QPS_SQD;
        attr.en_sqd_async_notify = 1;
        assert_int_equal(
            ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | (asked ? IBV_QP_EN_SQD_ASYNC_NOTIFY : 0)), 0);
        ibv_async_event event{};
        assert_int_equal(ibv_get_async_event(device.context, &event), asked ? 0 : -1);
        if (asked) {
            assert_int_equal(event.event_type, IBV_EVENT_SQ_DRAINED);
            ibv_ack_async_event(&event);
        }
        attr.qp_state = IBV_QPS_RTS;
        assert_int_equal(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
    }
    exchange(a, b);
}

void again_after_reset(void**) {
    Device device;
    Node a(device);
    Node b(device);
    for (int round = 0; round < 3; ++round) {
        verbs_test::connect(a, b);
        exchange(a, b);
        reset(a);
        reset(b);
    }
}

// An adapter's queue pair knows nothing of links: the one that is ready first just waits.
void reset_one_after_the_other(void**) {
    Device device;
    for (const bool a_first : {true, false}) {
        Node a(device);
        Node b(device);
        const Node& first = a_first ? a : b;
        const Node& second = a_first ? b : a;
        verbs_test::connect(a, b);
        exchange(a, b);
        for (int round = 0; round < 3; ++round) {
            for (const Node* const node : {&first, &second}) {
                reset(*node);
                node->to_init();
                node->to_rtr(node == &first ? second : first);
                node->to_rts();
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
            exchange(first, second);
            exchange(second, first);
        }
    }
}

// While the link is on its way, at whatever point that is.
void reset_in_a_hurry(void**) {
    Device device;
    Node a(device);
    Node b(device);
    for (int round = 0; round < 100; ++round) {
        for (int hurry = 0; hurry < 10; ++hurry) {
            verbs_test::connect(a, b);
            std::this_thread::sleep_for(std::chrono::microseconds(hurry * 20));
            reset(hurry % 2 == 0 ? a : b);
            reset(hurry % 2 == 0 ? b : a);
        }
        verbs_test::connect(b, a);
        exchange(a, b);
        reset(b);
        reset(a);
    }
}

// An adapter drops what comes for a queue pair that is not ready, so it never hears of a connection
// that its peer has given up.
void the_peer_was_reset_before_this_side_was_ready(void**) {
    Device device;
    Node a(device);
    Node b(device);
    const Node& waits = a.qp->qp_num > b.qp->qp_num ? a : b;
    const Node& calls = &waits == &a ? b : a;
    waits.to_init();
    calls.to_init();
    calls.to_rtr(waits);
    calls.to_rts();
    assert_int_equal(calls.post_send(1, 8), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    reset(calls);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    waits.to_rtr(calls);
    waits.to_rts();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    calls.to_init();
    calls.to_rtr(waits);
    calls.to_rts();
    exchange(calls, waits);
    exchange(waits, calls);
}

// What a queue pair has waited for is over with its reset; and a peer that never gets ready ends a
// request as one that is not there.
void patience_has_an_end(void**) {
    const auto begin = std::chrono::steady_clock::now();
    Device device;
    Node a(device);
    Node b(device);
    const Node& waits = a.qp->qp_num > b.qp->qp_num ? a : b;
    const Node& calls = &waits == &a ? b : a;
    waits.to_init();
    waits.to_rtr(calls);
    waits.to_rts();
    assert_int_equal(waits.post_send(1, 8), 0);
    reset(waits);
    waits.to_init();
    waits.to_rtr(calls);
    waits.to_rts();
    {
        Node c(device);
        Node never(device);
        c.to_init();
        never.to_init();
        c.to_rtr(never);
        c.to_rts();
        assert_int_equal(c.post_send(1, 8), 0);
        assert_int_equal(c.post_send(2, 8), 0);
        assert_int_equal(c.next().status, IBV_WC_RETRY_EXC_ERR);
        assert_int_equal(c.next().status, IBV_WC_WR_FLUSH_ERR);
    }
    std::this_thread::sleep_until(begin + std::chrono::milliseconds(20500));
    calls.to_init();
    calls.to_rtr(waits);
    calls.to_rts();
    exchange(waits, calls);
}

std::uint8_t draining(const Node& node) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    assert_int_equal(ibv_query_qp(node.qp, &attr, IBV_QP_STATE, &init), 0);
    assert_int_equal(attr.qp_state, IBV_QPS_SQD);
    return attr.sq_draining;
}

// What is posted in this state waits, and has nothing to do with draining.
void drained_with_requests_behind(void**) {
    Device device;
    Node a(device);
    Node b(device);
    verbs_test::connect(a, b);
    exchange(a, b);
    assert_int_equal(a.post_send(1, 8), 0);  // b is not ready
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_SQD;
    assert_int_equal(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
    assert_int_equal(draining(a), 1);
    assert_int_equal(a.post_send(2, 8), 0);
    assert_int_equal(b.post_receive(1, 8), 0);
    assert_int_equal(b.post_receive(2, 8), 0);
    assert_int_equal(a.next().wr_id, 1);
    assert_int_equal(draining(a), 0);
    attr.qp_state = IBV_QPS_RTS;
    assert_int_equal(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
    assert_int_equal(a.next().wr_id, 2);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(both_ways),
        cmocka_unit_test(in_every_order_of_states),
        cmocka_unit_test(with_itself),
        cmocka_unit_test(numbers_say_where),
        cmocka_unit_test(managed_numbers_are_their_own),
        cmocka_unit_test(a_peer_that_goes),
        cmocka_unit_test(a_peer_in_error),
        cmocka_unit_test(nobody_there),
        cmocka_unit_test(strangers_are_sent_away),
        cmocka_unit_test(strangers_do_not_take_the_place_of_the_peer),
        cmocka_unit_test(strangers_before_and_behind_the_peer),
        cmocka_unit_test(a_link_that_comes_too_late_is_closed),
        cmocka_unit_test(introductions),
        cmocka_unit_test(a_full_completion_queue_ends_the_queue_pair),
        cmocka_unit_test(a_reset_forgets_a_full_completion_queue),
        cmocka_unit_test(nobody_polls),
        cmocka_unit_test(destroying_takes_completions_along),
        cmocka_unit_test(says_that_it_is_drained_if_it_is_asked_to),
        cmocka_unit_test(again_after_reset),
        cmocka_unit_test(reset_one_after_the_other),
        cmocka_unit_test(the_peer_was_reset_before_this_side_was_ready),
        cmocka_unit_test(reset_in_a_hurry),
        cmocka_unit_test(patience_has_an_end),
        cmocka_unit_test(drained_with_requests_behind),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
