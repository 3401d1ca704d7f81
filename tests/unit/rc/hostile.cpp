// SPDX-License-Identifier: BSD-3-Clause
// A peer that does not play by the book: it ends its own connection, and changes no byte it has no
// right to.
#include <algorithm>
#include <functional>
#include <random>

#include "cmocka.hpp"
#include "endpoints.hpp"

using namespace fabric;
using namespace fabric::test;
using wire::Opcode;

namespace {

constexpr std::uint8_t kAck = 0x1f;

// The peer of `b` is this test: it makes packets by hand.
struct Scene {
    explicit Scene(const Setup& setup = {}) : pair(setup) {
        before = std::vector(memory.data(), memory.data() + 1024);
    }

    Packet to_b(Opcode opcode, std::size_t payload = 0) {
        Packet packet;
        packet.header.opcode = opcode;
        packet.header.destination_qp = 22;
        packet.header.psn = (0xfffffe + sent) & 0xffffff;
        packet.header.remote_address = memory.address();
        packet.header.rkey = memory.key();
        packet.header.dma_length = static_cast<std::uint32_t>(payload);
        packet.payload.assign(payload, std::byte{0xee});
        return packet;
    }

    bool hand(const Packet& packet) {
        ++sent;
        return pair.deliver(packet);
    }

    Packet answer() {
        pair.collect();
        assert_false(pair.flight.empty());
        Packet first = pair.flight.front();
        pair.flight.pop_front();
        return first;
    }

    void expect_nak(std::uint8_t syndrome) {
        const std::uint32_t psn = (0xfffffe + sent - 1) & 0xffffff;
        const Packet nak = answer();
        assert_int_equal(nak.header.opcode, Opcode::Acknowledge);
        assert_int_equal(nak.header.syndrome, syndrome);
        assert_int_equal(nak.header.psn, psn);
        assert_int_equal(pair.b.endpoint.state(), IBV_QPS_ERR);
        assert_true(equal(memory.bytes(), before));
    }

    Pair pair;
    Block memory{pair.b.pd(), 1024, kAllAccess, 3};
    std::vector<std::byte> before;
    std::uint32_t sent = 0;
};

constexpr std::uint8_t kInvalid = 0x61;

void middles_and_lasts_without_a_first(void**) {
    for (const Opcode opcode :
         {Opcode::SendMiddle, Opcode::SendLast, Opcode::SendLastImm, Opcode::SendLastInvalidate,
          Opcode::WriteMiddle, Opcode::WriteLast, Opcode::WriteLastImm}) {
        Scene scene;
        scene.pair.b.receive(1, {scene.memory.sge(0, 1024)});
        scene.hand(scene.to_b(opcode, 256));
        scene.expect_nak(kInvalid);
    }
}

// The first packet of a message places its bytes; what follows must not.
void start_message(Scene& scene, Opcode first) {
    scene.pair.b.receive(1, {scene.memory.sge(0, 1024)});
    Packet packet = scene.to_b(first, 256);
    packet.header.dma_length = 700;
    scene.hand(packet);
    scene.before = std::vector(scene.memory.data(), scene.memory.data() + 1024);
}

void something_else_inside_a_message(void**) {
    for (const Opcode first : {Opcode::SendFirst, Opcode::WriteFirst}) {
        for (const Opcode next :
             {Opcode::SendFirst, Opcode::SendOnly, Opcode::SendOnlyImm, Opcode::WriteFirst,
              Opcode::WriteOnly, Opcode::WriteOnlyImm, Opcode::ReadRequest, Opcode::CompareSwap,
              Opcode::FetchAdd, Opcode::Flush, Opcode::AtomicWrite,
              first == Opcode::SendFirst ? Opcode::WriteLast : Opcode::SendLast}) {
            Scene scene;
            start_message(scene, first);
            scene.hand(scene.to_b(next, next == Opcode::AtomicWrite ? 8 : 0));
            scene.expect_nak(kInvalid);
        }
    }
}

void payloads_that_do_not_fit_the_opcode(void**) {
    const std::pair<Opcode, std::size_t> starts[] = {
        {Opcode::SendFirst, 255}, {Opcode::SendFirst, 0},   {Opcode::WriteFirst, 255},
        {Opcode::ReadRequest, 1}, {Opcode::CompareSwap, 8}, {Opcode::FetchAdd, 8},
        {Opcode::Flush, 8},       {Opcode::AtomicWrite, 7}, {Opcode::AtomicWrite, 16}};
    for (const auto& [opcode, payload] : starts) {
        Scene scene;
        scene.pair.b.receive(1, {scene.memory.sge(0, 1024)});
        scene.hand(scene.to_b(opcode, payload));
        scene.expect_nak(kInvalid);
    }
    const std::pair<Opcode, std::size_t> inside[] = {{Opcode::SendMiddle, 255},
                                                     {Opcode::SendLast, 0},
                                                     {Opcode::WriteMiddle, 0},
                                                     {Opcode::WriteLast, 0},
                                                     {Opcode::WriteLast, 1}};
    for (const auto& [opcode, payload] : inside) {
        Scene scene;
        const bool send = opcode == Opcode::SendMiddle || opcode == Opcode::SendLast;
        start_message(scene, send ? Opcode::SendFirst : Opcode::WriteFirst);
        scene.hand(scene.to_b(opcode, payload));
        scene.expect_nak(kInvalid);
    }
}

void write_lengths_that_disagree_with_the_payload(void**) {
    const std::pair<Opcode, std::uint32_t> cases[] = {
        {Opcode::WriteOnly, 99},   {Opcode::WriteOnly, 101},         {Opcode::WriteOnly, 0},
        {Opcode::WriteFirst, 256}, {Opcode::WriteFirst, 0x80000001}, {Opcode::WriteFirst, 100}};
    for (const auto& [opcode, length] : cases) {
        Scene scene;
        Packet packet = scene.to_b(opcode, opcode == Opcode::WriteOnly ? 100 : 256);
        packet.header.dma_length = length;
        scene.hand(packet);
        scene.expect_nak(kInvalid);
    }
}

void a_write_longer_than_it_said(void**) {
    Scene scene;
    start_message(scene, Opcode::WriteFirst);  // 700 bytes
    scene.hand(scene.to_b(Opcode::WriteMiddle, 256));
    scene.before = std::vector(scene.memory.data(), scene.memory.data() + 1024);
    scene.hand(scene.to_b(Opcode::WriteMiddle, 256));
    scene.expect_nak(kInvalid);
}

void requests_that_make_no_sense(void**) {
    using Change = void (*)(wire::Header&);
    const std::pair<Opcode, Change> cases[] = {
        {Opcode::ReadRequest, [](wire::Header& header) { header.dma_length = 0x80000001; }},
        {Opcode::Flush, [](wire::Header& header) { header.flush_type = 0; }},
        {Opcode::Flush, [](wire::Header& header) { header.flush_type = 4; }},
        {Opcode::Flush,
         [](wire::Header& header) { header.flush_type = 1, header.flush_level = 2; }},
        {Opcode::UdSendOnly, [](wire::Header&) {}},
        {static_cast<Opcode>(0x15), [](wire::Header&) {}},
    };
    for (const auto& [opcode, change] : cases) {
        Scene scene;
        Packet packet = scene.to_b(opcode);
        change(packet.header);
        scene.hand(packet);
        scene.expect_nak(kInvalid);
    }
}

void a_flood_of_reads_is_bounded(void**) {
    Scene scene;
    for (int i = 0; i < 4; ++i) {
        Packet packet = scene.to_b(Opcode::ReadRequest);
        packet.header.dma_length = 200;
        scene.hand(packet);
    }
    scene.hand(scene.to_b(Opcode::ReadRequest));
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(scene.answer().header.opcode, Opcode::ReadResponseOnly);
    }
    scene.expect_nak(kInvalid);
}

void packets_for_nobody_and_too_large_ones_end_the_link(void**) {
    Scene scene;
    Packet wrong = scene.to_b(Opcode::SendOnly);
    wrong.header.destination_qp = 23;
    assert_false(scene.pair.deliver(wrong));
    assert_false(scene.pair.deliver(scene.to_b(Opcode::WriteOnly, 257)));
    assert_true(equal(scene.memory.bytes(), scene.before));
}

Packet to_a(Opcode opcode, std::uint32_t psn, std::size_t payload = 0) {
    Packet packet;
    packet.to_b = false;
    packet.header.opcode = opcode;
    packet.header.destination_qp = 11;
    packet.header.psn = psn & 0xffffff;
    packet.header.syndrome = kAck;
    packet.payload.assign(payload, std::byte{0xee});
    return packet;
}

void answers_to_nothing_end_the_link(void**) {
    for (const Opcode opcode :
         {Opcode::Acknowledge, Opcode::ReadResponseFirst, Opcode::ReadResponseMiddle,
          Opcode::ReadResponseLast, Opcode::ReadResponseOnly, Opcode::AtomicAcknowledge}) {
        Pair pair;  // a starts with 0xfffffe and has sent nothing
        assert_false(pair.deliver(to_a(opcode, 0xfffffe)));
        assert_false(pair.deliver(to_a(opcode, 0xfffffe + 0x1000)));
        assert_true(pair.a.sends.empty());
    }
}

void old_answers_are_ignored(void**) {
    for (const std::uint8_t syndrome :
         {std::uint8_t{0x1f}, std::uint8_t{0x60}, std::uint8_t{0x62}, std::uint8_t{0x2c}}) {
        Pair pair;
        Packet packet = to_a(Opcode::Acknowledge, 0xfffffd);
        packet.header.syndrome = syndrome;
        assert_true(pair.deliver(packet));
        assert_int_equal(pair.a.endpoint.state(), IBV_QPS_RTS);
        assert_false(pair.a.endpoint.deadline().has_value());
    }
}

void acknowledgements_beyond_what_was_sent_end_the_link(void**) {
    Pair pair;
    post(pair.a, {.opcode = IBV_WR_RDMA_WRITE});
    pair.collect();
    assert_false(pair.deliver(to_a(Opcode::Acknowledge, 0xffffff)));
    assert_true(pair.deliver(to_a(Opcode::Acknowledge, 0xfffffe)));
    assert_int_equal(pair.a.sent().wc.status, IBV_WC_SUCCESS);
}

struct Answer {
    const char* what;
    ibv_wr_opcode request;
    std::uint32_t length;
    Opcode opcode;
    std::uint16_t payload;
    std::uint8_t syndrome;
};

void wrong_answers_fail_the_request(void**) {
    const Answer answers[] = {
        {"read answer to a write", IBV_WR_RDMA_WRITE, 8, Opcode::ReadResponseOnly, 8, kAck},
        {"atomic answer to a write", IBV_WR_RDMA_WRITE, 8, Opcode::AtomicAcknowledge, 0, kAck},
        {"atomic answer to a read", IBV_WR_RDMA_READ, 8, Opcode::AtomicAcknowledge, 0, kAck},
        {"read answer to an atomic", IBV_WR_ATOMIC_FETCH_AND_ADD, 8, Opcode::ReadResponseOnly, 8,
         kAck},
        {"atomic answer with payload", IBV_WR_ATOMIC_FETCH_AND_ADD, 8, Opcode::AtomicAcknowledge, 8,
         kAck},
        {"too short", IBV_WR_RDMA_READ, 100, Opcode::ReadResponseOnly, 99, kAck},
        {"too long", IBV_WR_RDMA_READ, 100, Opcode::ReadResponseOnly, 101, kAck},
        {"empty", IBV_WR_RDMA_READ, 100, Opcode::ReadResponseOnly, 0, kAck},
        {"first of one", IBV_WR_RDMA_READ, 256, Opcode::ReadResponseFirst, 256, kAck},
        {"middle of one", IBV_WR_RDMA_READ, 256, Opcode::ReadResponseMiddle, 256, kAck},
        {"only of two", IBV_WR_RDMA_READ, 300, Opcode::ReadResponseOnly, 256, kAck},
        {"first of two too short", IBV_WR_RDMA_READ, 300, Opcode::ReadResponseFirst, 255, kAck},
        {"negative read answer", IBV_WR_RDMA_READ, 8, Opcode::ReadResponseOnly, 8, 0x60},
        {"negative atomic answer", IBV_WR_ATOMIC_FETCH_AND_ADD, 8, Opcode::AtomicAcknowledge, 0,
         0x62},
        {"reserved NAK code", IBV_WR_RDMA_WRITE, 8, Opcode::Acknowledge, 0, 0x7f},
    };
    for (const Answer& answer : answers) {
        Pair pair;
        Block local(pair.a.pd(), 512);
        const std::vector before(local.data(), local.data() + 512);
        post(pair.a, {.opcode = answer.request, .wr_id = 3, .sges = {local.sge(0, answer.length)}});
        pair.collect();
        Packet packet = to_a(answer.opcode, 0xfffffe, answer.payload);
        packet.header.syndrome = answer.syndrome;
        pair.deliver(packet);
        if (pair.a.sends.empty() || pair.a.sends[0].wc.status != IBV_WC_BAD_RESP_ERR) {
            print_error("%s\n", answer.what);
        }
        assert_int_equal(pair.a.sent().wc.status, IBV_WC_BAD_RESP_ERR);
        assert_int_equal(pair.a.endpoint.state(), IBV_QPS_ERR);
        assert_true(equal(local.bytes(), before));
    }
}

void malformed_acknowledgements_end_the_link(void**) {
    Pair pair;
    post(pair.a, {.opcode = IBV_WR_RDMA_WRITE});
    pair.collect();
    Packet reserved = to_a(Opcode::Acknowledge, 0xfffffe);
    reserved.header.syndrome = 0x40;
    assert_false(pair.deliver(reserved));
    assert_false(pair.deliver(to_a(Opcode::Acknowledge, 0xfffffe, 4)));
    assert_true(pair.a.sends.empty());
}

void an_acknowledgement_is_no_answer_to_a_read(void**) {
    Pair pair;
    Block local(pair.a.pd(), 512);
    post(pair.a, {.opcode = IBV_WR_RDMA_READ, .sges = {local.sge(0, 512)}});
    pair.collect();
    // Taken as the loss of the response: asked again, three times.
    for (int i = 0; i < 3; ++i) {
        pair.flight.clear();
        assert_true(pair.deliver(to_a(Opcode::Acknowledge, 0xfffffe)));
        assert_true(pair.collect());
        assert_int_equal(pair.flight.front().header.opcode, Opcode::ReadRequest);
    }
    pair.deliver(to_a(Opcode::Acknowledge, 0xfffffe));
    assert_int_equal(pair.a.sent().wc.status, IBV_WC_RETRY_EXC_ERR);
}

void nothing_is_taken_in_the_wrong_state(void**) {
    for (const ibv_qp_state state : {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_ERR}) {
        Scene scene;
        scene.pair.b.endpoint.set_state(IBV_QPS_RESET);
        scene.pair.b.endpoint.set_state(state);
        assert_true(scene.hand(scene.to_b(Opcode::WriteOnly, 100)));
        assert_true(equal(scene.memory.bytes(), scene.before));
        assert_false(scene.pair.collect());
    }
}

// Changes a bit of the headers, and now and then the length of the payload. False: no packet any
// more.
bool mutate(Packet& packet, std::mt19937& random) {
    std::array<std::byte, wire::kMaxHeaderBytes> bytes{};
    const std::size_t size = wire::encode(packet.header, bytes);
    bytes[random() % size] ^= static_cast<std::byte>(1U << random() % 8);
    const auto changed = wire::decode(bytes);
    if (!changed) {
        return false;
    }
    packet.header = *changed;
    packet.payload.resize(random() % 4 == 0 ? random() % 300 : packet.payload.size());
    return true;
}

// A session of everything, of which packets are changed at random, ten thousand in all. Whatever
// happens, bytes outside what is registered for the peer stay as they are.
void random_changes_of_a_session(void**) {
    std::mt19937 random(20240607);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same run each time
    for (int mutations = 0; mutations < 10000;) {
        Pair pair;
        Block local(pair.a.pd(), 1024, kAllAccess, 1);
        Block remote(pair.b.pd(), 1024, kAllAccess, 2);
        Block closed(pair.b.pd(), 1024, IBV_ACCESS_LOCAL_WRITE, 3);
        const std::vector before(closed.data(), closed.data() + 1024);
        pair.b.receive(1, {remote.sge(0, 600)});
        pair.b.receive(2, {});
        std::uint64_t id = 0;
        for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ,
                                           IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_RDMA_WRITE_WITH_IMM}) {
            const bool atomic = opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
            post(pair.a, {.opcode = opcode,
                          .wr_id = id++,
                          .sges = {local.sge(0, atomic ? 8 : 520)},
                          .remote = remote.address(),
                          .rkey = remote.key()});
        }
        pair.filter = [&](Packet& packet) {
            if (random() % 4 == 0) {
                ++mutations;
                return mutate(packet, random);
            }
            return random() % 64 != 0;
        };
        pair.run(100);
        assert_true(equal(closed.bytes(), before));
        assert_true(pair.a.sends.size() <= 5);
    }
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(middles_and_lasts_without_a_first),
        cmocka_unit_test(something_else_inside_a_message),
        cmocka_unit_test(payloads_that_do_not_fit_the_opcode),
        cmocka_unit_test(write_lengths_that_disagree_with_the_payload),
        cmocka_unit_test(a_write_longer_than_it_said),
        cmocka_unit_test(requests_that_make_no_sense),
        cmocka_unit_test(a_flood_of_reads_is_bounded),
        cmocka_unit_test(packets_for_nobody_and_too_large_ones_end_the_link),
        cmocka_unit_test(answers_to_nothing_end_the_link),
        cmocka_unit_test(old_answers_are_ignored),
        cmocka_unit_test(acknowledgements_beyond_what_was_sent_end_the_link),
        cmocka_unit_test(wrong_answers_fail_the_request),
        cmocka_unit_test(malformed_acknowledgements_end_the_link),
        cmocka_unit_test(an_acknowledgement_is_no_answer_to_a_read),
        cmocka_unit_test(nothing_is_taken_in_the_wrong_state),
        cmocka_unit_test(random_changes_of_a_session),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
