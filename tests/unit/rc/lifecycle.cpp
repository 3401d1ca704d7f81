// SPDX-License-Identifier: BSD-3-Clause
// States, lost links, and memory that is deregistered while it is used.
#include "cmocka.hpp"
#include "endpoints.hpp"

using namespace fabric;
using namespace fabric::test;
using wire::Opcode;

namespace {

struct Scene {
    explicit Scene(const Setup& setup = {}) : pair(setup) {}

    Request request(ibv_wr_opcode opcode, std::uint64_t wr_id, std::size_t length = 600) const {
        return {.opcode = opcode,
                .wr_id = wr_id,
                .sges = {local.sge(0, length)},
                .remote = remote.address(),
                .rkey = remote.key()};
    }

    void expect(std::uint64_t wr_id, ibv_wc_status status) {
        const rc::Completion done = pair.a.sent();
        assert_int_equal(done.wc.wr_id, wr_id);
        assert_int_equal(done.wc.status, status);
    }

    // Hands the packets of `flight` over, the first `count` of them.
    void deliver(std::size_t count) {
        for (; count > 0; --count) {
            assert_true(pair.deliver(pair.flight.front()));
            pair.flight.pop_front();
        }
    }

    Pair pair;
    Block local{pair.a.pd(), 2048, kAllAccess, 1};
    Block remote{pair.b.pd(), 2048, kAllAccess, 2};
};

void a_lost_link_fails_what_is_under_way(void**) {
    // Before anything was sent, after sending, and with part of it acknowledged.
    for (int phase = 0; phase < 3; ++phase) {
        Scene scene;
        scene.pair.a.receive(9, {});
        post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 1));
        if (phase == 2) {
            scene.pair.exchange();
            scene.expect(1, IBV_WC_SUCCESS);
            post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 1));
        }
        post(scene.pair.a, scene.request(IBV_WR_RDMA_READ, 2));
        post(scene.pair.a, scene.request(IBV_WR_SEND, 3));
        if (phase > 0) {
            scene.pair.collect();
        }
        scene.pair.a.endpoint.link_lost();
        scene.expect(1, IBV_WC_RETRY_EXC_ERR);
        scene.expect(2, IBV_WC_WR_FLUSH_ERR);
        scene.expect(3, IBV_WC_WR_FLUSH_ERR);
        assert_int_equal(scene.pair.a.endpoint.state(), IBV_QPS_ERR);
        assert_int_equal(scene.pair.a.received().wc.status, IBV_WC_WR_FLUSH_ERR);
        assert_int_equal(scene.pair.a.states.size(), 1);
        scene.pair.flight.clear();
        assert_false(scene.pair.collect());
    }
}

void an_idle_side_notices_with_its_next_request(void**) {
    Scene scene;
    scene.pair.a.receive(9, {});
    scene.pair.a.endpoint.link_lost();
    assert_int_equal(scene.pair.a.endpoint.state(), IBV_QPS_RTS);
    assert_true(scene.pair.a.receives.empty());
    assert_int_equal(post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 5)), 0);
    scene.expect(5, IBV_WC_RETRY_EXC_ERR);
    assert_int_equal(scene.pair.a.received().wc.status, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 6)), 0);
    scene.expect(6, IBV_WC_WR_FLUSH_ERR);
}

void a_lost_link_during_the_rnr_wait(void**) {
    Scene scene;
    post(scene.pair.a, scene.request(IBV_WR_SEND, 1));
    scene.pair.exchange();
    assert_true(scene.pair.a.endpoint.deadline().has_value());
    scene.pair.a.endpoint.link_lost();
    scene.expect(1, IBV_WC_RETRY_EXC_ERR);
    assert_false(scene.pair.a.endpoint.deadline().has_value());
}

void a_lost_link_in_the_middle_of_a_read_response(void**) {
    Scene scene;
    post(scene.pair.a, scene.request(IBV_WR_RDMA_READ, 1));
    scene.pair.collect();
    scene.deliver(1);
    scene.pair.collect();
    const Packet first = scene.pair.flight.front();
    const auto begun = scene.pair.a.endpoint.begin(first.header, first.payload.size());
    assert_int_equal(begun.target.size(), 1);
    scene.pair.a.endpoint.link_lost();
    scene.expect(1, IBV_WC_RETRY_EXC_ERR);
    scene.pair.a.endpoint.end(true);  // comes too late to matter
    assert_true(scene.pair.a.sends.empty());
}

void a_receive_under_way_is_flushed(void**) {
    Scene scene;
    scene.pair.b.receive(7, {scene.remote.sge(0, 2048)});
    scene.pair.b.receive(8, {});
    post(scene.pair.a, scene.request(IBV_WR_SEND, 1));
    scene.pair.collect();
    scene.deliver(2);
    scene.pair.b.endpoint.link_lost();
    assert_true(scene.pair.b.receives.empty());
    scene.pair.b.endpoint.set_state(IBV_QPS_ERR);
    for (const std::uint64_t id : {7U, 8U}) {
        const rc::Completion flushed = scene.pair.b.received();
        assert_int_equal(flushed.wc.wr_id, id);
        assert_int_equal(flushed.wc.status, IBV_WC_WR_FLUSH_ERR);
    }
    assert_true(scene.pair.b.receives.empty());
}

void error_state_flushes_and_answers_no_more(void**) {
    Scene scene;
    post(scene.pair.a, scene.request(IBV_WR_RDMA_READ, 1));
    post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 2));
    scene.pair.collect();
    scene.deliver(2);
    scene.pair.b.endpoint.set_state(IBV_QPS_ERR);
    scene.pair.flight.clear();
    assert_false(scene.pair.collect());
    scene.pair.a.endpoint.set_state(IBV_QPS_ERR);
    scene.expect(1, IBV_WC_WR_FLUSH_ERR);
    scene.expect(2, IBV_WC_WR_FLUSH_ERR);
    assert_true(scene.pair.a.states.empty());
    scene.pair.a.endpoint.set_state(IBV_QPS_ERR);
    assert_true(scene.pair.a.sends.empty());
}

void requests_use_up_their_tries(ibv_qp_state state) {
    enum class When { Before, Unanswered, NotReady, InPayload };
    for (const When when : {When::Before, When::Unanswered, When::NotReady, When::InPayload}) {
        Scene scene;
        rc::Endpoint& b = scene.pair.b.endpoint;
        const bool reads = when == When::Unanswered;
        const bool sends = when == When::NotReady;
        post(scene.pair.a, scene.request(reads   ? IBV_WR_RDMA_READ
                                         : sends ? IBV_WR_SEND
                                                 : IBV_WR_RDMA_WRITE,
                                         1, 100));
        post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 2));
        scene.pair.collect();
        if (when == When::InPayload) {
            const Packet& first = scene.pair.flight.front();
            assert_int_equal(b.begin(first.header, first.payload.size()).target.size(), 1);
        } else if (when != When::Before) {
            scene.deliver(1);
        }
        b.set_state(state);
        b.end(true);
        if (when != When::Before) {
            scene.pair.flight.clear();  // nothing comes that would remind b
        }
        scene.pair.exchange();
        assert_true(scene.pair.a.sends.empty());
        assert_true(scene.pair.seen(false).empty());  // not at once
        scene.pair.run();
        assert_false(scene.pair.fatal);
        scene.expect(1, IBV_WC_RETRY_EXC_ERR);
        scene.expect(2, IBV_WC_WR_FLUSH_ERR);
        assert_int_equal(scene.pair.seen(false).size(), 4);
        assert_false(b.deadline().has_value());
    }
}

// The peer's queue pair is in error, and its program does nothing about it. As on a network, where
// the requests would time out.
void requests_to_a_queue_pair_in_error_use_up_their_tries(void**) {
    requests_use_up_their_tries(IBV_QPS_ERR);
}

void requests_to_a_queue_pair_that_was_reset_use_up_their_tries(void**) {
    requests_use_up_their_tries(IBV_QPS_RESET);
}

void error_state_says_nothing_to_who_waits_for_nothing(void**) {
    Scene scene;
    post(scene.pair.a, scene.request(IBV_WR_RDMA_READ, 1));
    post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 2));
    scene.pair.run();
    scene.expect(1, IBV_WC_SUCCESS);
    scene.expect(2, IBV_WC_SUCCESS);
    scene.pair.seen(false);
    scene.pair.b.endpoint.set_state(IBV_QPS_ERR);
    scene.pair.run();
    assert_true(scene.pair.seen(false).empty());
    assert_int_equal(scene.pair.a.endpoint.state(), IBV_QPS_RTS);
}

// The first part of a read came, the rest never does.
void error_state_in_the_middle_of_an_answer(void**) {
    Scene scene;
    post(scene.pair.a, scene.request(IBV_WR_RDMA_READ, 1));
    scene.pair.collect();
    scene.deliver(1);
    rc::OutPacket out;
    assert_true(scene.pair.b.endpoint.next_packet(out));
    scene.pair.b.endpoint.set_state(IBV_QPS_ERR);
    Packet first{out.header, std::vector<std::byte>(out.payload_size), false};
    assert_true(scene.pair.deliver(first));
    scene.pair.run();
    assert_false(scene.pair.fatal);
    scene.expect(1, IBV_WC_RETRY_EXC_ERR);
}

void what_was_taken_in_is_acknowledged_even_in_error_state(void**) {
    Scene scene;
    Request quiet = scene.request(IBV_WR_RDMA_WRITE, 1);
    quiet.flags = 0;
    post(scene.pair.a, quiet);
    scene.pair.exchange();
    scene.pair.b.endpoint.set_state(IBV_QPS_ERR);
    scene.pair.exchange();
    assert_true(scene.pair.a.endpoint.send_queue_idle());
}

void reset_forgets_everything_silently(void**) {
    Scene scene;
    scene.pair.a.receive(9, {});
    post(scene.pair.a, scene.request(IBV_WR_SEND, 1));
    scene.pair.exchange();
    scene.pair.a.endpoint.set_state(IBV_QPS_RESET);
    assert_true(scene.pair.a.sends.empty());
    assert_true(scene.pair.a.receives.empty());
    assert_false(scene.pair.a.endpoint.deadline().has_value());
    assert_true(scene.pair.a.endpoint.send_queue_idle());
    assert_false(scene.pair.collect());
}

void a_queue_pair_lives_again_after_reset(void**) {
    Scene scene;
    Request wrong = scene.request(IBV_WR_RDMA_WRITE, 1);
    wrong.rkey ^= 1;
    post(scene.pair.a, wrong);
    scene.pair.run();
    scene.expect(1, IBV_WC_REM_ACCESS_ERR);
    scene.pair.a.endpoint.link_lost();
    for (Side* side : {&scene.pair.a, &scene.pair.b}) {
        side->endpoint.set_state(IBV_QPS_RESET);
        side->endpoint.set_state(IBV_QPS_INIT);
        rc::Attributes attributes = side->endpoint.attributes();
        attributes.receive_psn = 1000;
        side->endpoint.set_attributes(attributes);
        side->endpoint.set_state(IBV_QPS_RTR);
        attributes.send_psn = 1000;  // becomes known only now, as with ibv_modify_qp
        side->endpoint.set_attributes(attributes);
        side->endpoint.set_state(IBV_QPS_RTS);
    }
    for (std::uint64_t id = 2; id < 18; ++id) {
        assert_int_equal(post(scene.pair.a, scene.request(IBV_WR_RDMA_READ, id)), 0);
    }
    scene.pair.run();
    for (std::uint64_t id = 2; id < 18; ++id) {
        scene.expect(id, IBV_WC_SUCCESS);
    }
}

void a_drained_queue_is_reported_once(void**) {
    Scene scene;
    post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 1));
    scene.pair.collect();
    post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 2));
    scene.pair.a.endpoint.set_state(IBV_QPS_SQD);
    assert_true(scene.pair.a.events.empty());
    scene.pair.exchange();
    scene.expect(1, IBV_WC_SUCCESS);
    assert_true(scene.pair.a.sends.empty());  // the second one has not been started
    assert_int_equal(scene.pair.a.events.size(), 1);
    assert_int_equal(scene.pair.a.events[0], IBV_EVENT_SQ_DRAINED);
    scene.pair.a.endpoint.set_state(IBV_QPS_RTS);
    scene.pair.exchange();
    scene.expect(2, IBV_WC_SUCCESS);
    scene.pair.a.endpoint.set_state(IBV_QPS_SQD);
    assert_int_equal(scene.pair.a.events.size(), 2);
}

void the_first_packet_shows_that_the_connection_stands(void**) {
    Scene scene;
    scene.pair.b.endpoint.set_state(IBV_QPS_RESET);
    scene.pair.b.endpoint.set_attributes(scene.pair.b.endpoint.attributes());
    scene.pair.b.endpoint.set_state(IBV_QPS_INIT);
    scene.pair.b.endpoint.set_state(IBV_QPS_RTR);
    post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 1));
    scene.pair.exchange();
    scene.expect(1, IBV_WC_SUCCESS);
    assert_int_equal(scene.pair.b.events.size(), 1);
    assert_int_equal(scene.pair.b.events[0], IBV_EVENT_COMM_EST);
}

void the_target_of_a_write_goes_between_its_packets(void**) {
    Scene scene;
    post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 1));
    scene.pair.collect();
    scene.deliver(1);
    scene.remote.deregister();
    scene.pair.exchange();
    scene.expect(1, IBV_WC_REM_ACCESS_ERR);
    assert_int_equal(scene.pair.b.events[0], IBV_EVENT_QP_ACCESS_ERR);
}

void the_target_of_a_write_goes_within_a_packet(void**) {
    Scene scene;
    post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 1));
    scene.pair.collect();
    const Packet first = scene.pair.flight.front();
    scene.pair.flight.clear();
    const auto begun = scene.pair.b.endpoint.begin(first.header, first.payload.size());
    assert_true(begun.target[0].region == scene.remote.region());
    scene.remote.deregister();
    scene.pair.b.endpoint.end(false);
    scene.pair.exchange();
    scene.expect(1, IBV_WC_REM_ACCESS_ERR);
}

void the_source_of_a_write_goes_between_its_packets(void**) {
    Scene scene;
    post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 1, 8));
    post(scene.pair.a, scene.request(IBV_WR_RDMA_WRITE, 2));
    rc::OutPacket out;
    assert_true(scene.pair.a.endpoint.next_packet(out));
    assert_true(scene.pair.a.endpoint.next_packet(out));
    assert_int_equal(out.header.opcode, Opcode::WriteFirst);
    scene.local.deregister();
    assert_false(scene.pair.a.endpoint.next_packet(out));
    // The first write is not answered yet; the failure has to wait for it.
    assert_true(scene.pair.a.sends.empty());
    Packet ack;
    ack.to_b = false;
    ack.header.opcode = Opcode::Acknowledge;
    ack.header.destination_qp = 11;
    ack.header.psn = 0xfffffe;
    ack.header.syndrome = 0x1f;
    scene.pair.deliver(ack);
    scene.expect(1, IBV_WC_SUCCESS);
    scene.expect(2, IBV_WC_LOC_PROT_ERR);
}

void the_source_of_a_read_goes_between_its_packets(void**) {
    Scene scene;
    post(scene.pair.a, scene.request(IBV_WR_RDMA_READ, 1));
    post(scene.pair.a, scene.request(IBV_WR_RDMA_READ, 2));
    scene.pair.collect();
    scene.deliver(2);
    rc::OutPacket out;
    assert_true(scene.pair.b.endpoint.next_packet(out));
    scene.remote.deregister();
    scene.pair.collect();
    assert_int_equal(scene.pair.flight.size(), 1);
    assert_int_equal(scene.pair.flight[0].header.syndrome, 0x62);
    assert_int_equal(scene.pair.flight[0].header.psn, 0xffffff);
    assert_int_equal(scene.pair.b.events[0], IBV_EVENT_QP_ACCESS_ERR);
    assert_int_equal(scene.pair.b.endpoint.state(), IBV_QPS_ERR);
}

void the_destination_of_a_read_goes(void**) {
    for (const bool within : {false, true}) {
        Scene scene;
        post(scene.pair.a, scene.request(IBV_WR_RDMA_READ, 1));
        scene.pair.collect();
        scene.deliver(1);
        scene.pair.collect();
        const Packet first = scene.pair.flight.front();
        if (!within) {
            scene.local.deregister();
        }
        const auto begun = scene.pair.a.endpoint.begin(first.header, first.payload.size());
        assert_int_equal(begun.target.empty(), !within);
        scene.local.deregister();
        scene.pair.a.endpoint.end(false);
        scene.expect(1, IBV_WC_LOC_PROT_ERR);
    }
}

void the_receive_buffer_goes_within_a_packet(void**) {
    Scene scene;
    scene.pair.b.receive(7, {scene.remote.sge(0, 1000)});
    post(scene.pair.a, scene.request(IBV_WR_SEND, 1));
    scene.pair.collect();
    const Packet first = scene.pair.flight.front();
    scene.pair.flight.clear();
    assert_false(scene.pair.b.endpoint.begin(first.header, first.payload.size()).target.empty());
    scene.remote.deregister();
    scene.pair.b.endpoint.end(false);
    scene.pair.exchange();
    assert_int_equal(scene.pair.b.received().wc.status, IBV_WC_LOC_PROT_ERR);
    scene.expect(1, IBV_WC_REM_OP_ERR);
}

// As state SQD allows; the responder must not refuse what it has agreed to.
void more_reads_in_flight_later(void**) {
    Pair pair;
    Block from(pair.a.pd(), 4096);
    Block to(pair.b.pd(), 4096);
    const auto read = [&](std::uint64_t id) {
        post(pair.a, {.opcode = IBV_WR_RDMA_READ,
                      .wr_id = id,
                      .sges = {from.sge(id * 8, 8)},
                      .remote = to.address(id * 8),
                      .rkey = to.key()});
    };
    read(0);
    pair.run();
    assert_int_equal(pair.a.sent().wc.status, IBV_WC_SUCCESS);
    for (Side* const side : {&pair.a, &pair.b}) {
        rc::Attributes more = side->endpoint.attributes();
        more.max_rd_atomic = more.max_dest_rd_atomic = 12;
        side->endpoint.set_attributes(more);
    }
    for (std::uint64_t id = 0; id < 12; ++id) {
        read(id);
    }
    pair.run();
    for (std::uint64_t id = 0; id < 12; ++id) {
        assert_int_equal(pair.a.sent().wc.status, IBV_WC_SUCCESS);
    }
    assert_true(equal(from.bytes().first(96), to.bytes().first(96)));
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_link_fails_what_is_under_way),
        cmocka_unit_test(an_idle_side_notices_with_its_next_request),
        cmocka_unit_test(a_lost_link_during_the_rnr_wait),
        cmocka_unit_test(a_lost_link_in_the_middle_of_a_read_response),
        cmocka_unit_test(a_receive_under_way_is_flushed),
        cmocka_unit_test(error_state_flushes_and_answers_no_more),
        cmocka_unit_test(requests_to_a_queue_pair_in_error_use_up_their_tries),
        cmocka_unit_test(requests_to_a_queue_pair_that_was_reset_use_up_their_tries),
        cmocka_unit_test(error_state_says_nothing_to_who_waits_for_nothing),
        cmocka_unit_test(error_state_in_the_middle_of_an_answer),
        cmocka_unit_test(what_was_taken_in_is_acknowledged_even_in_error_state),
        cmocka_unit_test(reset_forgets_everything_silently),
        cmocka_unit_test(a_queue_pair_lives_again_after_reset),
        cmocka_unit_test(a_drained_queue_is_reported_once),
        cmocka_unit_test(the_first_packet_shows_that_the_connection_stands),
        cmocka_unit_test(the_target_of_a_write_goes_between_its_packets),
        cmocka_unit_test(the_target_of_a_write_goes_within_a_packet),
        cmocka_unit_test(the_source_of_a_write_goes_between_its_packets),
        cmocka_unit_test(the_source_of_a_read_goes_between_its_packets),
        cmocka_unit_test(the_destination_of_a_read_goes),
        cmocka_unit_test(the_receive_buffer_goes_within_a_packet),
        cmocka_unit_test(more_reads_in_flight_later),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
