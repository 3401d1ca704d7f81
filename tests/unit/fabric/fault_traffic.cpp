// SPDX-License-Identifier: BSD-3-Clause
// What the faults of a connection do to its packets, one by one.
#include <vector>

#include "cmocka.hpp"
#include "faults/traffic.hpp"

using fabric::faults::Plan;
using fabric::faults::Traffic;
using fabric::rc::OutPacket;
using fabric::rc::RequestFilter;
using fabric::wire::Opcode;
namespace faults = fabric::faults;

namespace {

constexpr std::uint32_t kMtu = 256;

struct Scene {
    explicit Scene(const char* spec) : plan{faults::parse_spec(spec), 1}, traffic(plan, 1) {
        assert_true(plan.spec.complaint.empty());
    }

    // As it goes out, with the number behind the last one's.
    std::uint32_t send(Opcode opcode, std::uint32_t payload = 0, std::uint32_t length = 0) {
        OutPacket packet;
        packet.header.opcode = opcode;
        packet.header.psn = psn++ & fabric::wire::kPsnMask;
        packet.header.dma_length = length;
        packet.header_size = static_cast<std::uint32_t>(fabric::wire::header_bytes(opcode));
        packet.payload_size = payload;
        traffic.wait();
        return traffic.limit(packet);
    }
    RequestFilter::Answer receive(Opcode opcode) {
        fabric::wire::Header header;
        header.opcode = opcode;
        header.psn = psn++ & fabric::wire::kPsnMask;
        return traffic.answer(header);
    }

    Plan plan;
    Traffic traffic;
    std::uint32_t psn = 0xfffffe;
};

constexpr std::uint32_t frame(std::uint32_t headers, std::uint32_t payload) {
    return 4 + headers + payload;
}

void the_third_packet_is_not_sent(void**) {
    Scene scene("drop@3");
    assert_int_equal(scene.send(Opcode::SendOnly), OutPacket::kWhole);
    assert_int_equal(scene.send(Opcode::ReadRequest), OutPacket::kWhole);
    assert_int_equal(scene.send(Opcode::WriteOnly), 0);
}

void answers_do_not_count(void**) {
    Scene scene("drop@1");
    assert_int_equal(scene.send(Opcode::Acknowledge), OutPacket::kWhole);
    assert_int_equal(scene.send(Opcode::ReadResponseOnly, 8), OutPacket::kWhole);
    assert_int_equal(scene.send(Opcode::SendOnly), 0);
}

void what_is_sent_again_does_not_count(void**) {
    Scene scene("drop@2");
    assert_int_equal(scene.send(Opcode::SendOnly), OutPacket::kWhole);
    scene.psn--;
    assert_int_equal(scene.send(Opcode::SendOnly), OutPacket::kWhole);
    assert_int_equal(scene.send(Opcode::SendOnly), 0);
}

void half_of_a_small_write(void**) {
    Scene scene("cut-write@2");
    assert_int_equal(scene.send(Opcode::WriteOnly, 8, 8), OutPacket::kWhole);
    assert_int_equal(scene.send(Opcode::SendOnly, 8), OutPacket::kWhole);
    assert_int_equal(scene.send(Opcode::WriteOnly, 8, 8), frame(28, 4));
}

void half_of_a_write_of_several_packets(void**) {
    Scene scene("cut-write@1");
    assert_int_equal(scene.send(Opcode::WriteFirst, kMtu, 700), OutPacket::kWhole);
    assert_int_equal(scene.send(Opcode::WriteMiddle, kMtu), frame(12, 350 - kMtu));
}

void half_of_a_write_at_the_border_of_two_packets(void**) {
    Scene scene("cut-write@1");
    assert_int_equal(scene.send(Opcode::WriteFirst, kMtu, 2 * kMtu), frame(28, kMtu));
}

void half_of_a_write_of_nothing(void**) {
    Scene scene("cut-write@1");
    assert_int_equal(scene.send(Opcode::WriteOnly, 0, 0), frame(28, 0) / 2);
}

void a_packet_waits_once(void**) {
    Scene scene("delay=5ms@2");
    assert_true(scene.traffic.wait().count() == 0);
    assert_int_equal(scene.send(Opcode::SendOnly), OutPacket::kWhole);
    assert_int_equal(scene.traffic.wait().count(), 5000);
    assert_int_equal(scene.traffic.wait().count(), 0);
    assert_int_equal(scene.send(Opcode::SendOnly), OutPacket::kWhole);
    assert_int_equal(scene.traffic.wait().count(), 0);
}

void requests_are_refused_at_their_first_packet(void**) {
    Scene scene("nak=access@2");
    assert_true(scene.receive(Opcode::WriteFirst) == RequestFilter::Answer::None);
    assert_true(scene.receive(Opcode::WriteMiddle) == RequestFilter::Answer::None);
    assert_true(scene.receive(Opcode::WriteLast) == RequestFilter::Answer::None);
    assert_true(scene.receive(Opcode::ReadRequest) == RequestFilter::Answer::RemoteAccess);
    assert_true(scene.receive(Opcode::SendOnly) == RequestFilter::Answer::None);
}

void only_what_needs_a_receive_finds_none(void**) {
    Scene scene("rnr@1,rnr@3");
    assert_true(scene.receive(Opcode::WriteOnly) == RequestFilter::Answer::None);
    assert_true(scene.receive(Opcode::Flush) == RequestFilter::Answer::None);
    assert_true(scene.receive(Opcode::SendFirst) == RequestFilter::Answer::NotReady);
    scene.psn--;  // tried again
    assert_true(scene.receive(Opcode::SendFirst) == RequestFilter::Answer::None);
    assert_true(scene.receive(Opcode::SendLast) == RequestFilter::Answer::None);
    assert_true(scene.receive(Opcode::WriteOnlyImm) == RequestFilter::Answer::None);
    assert_true(scene.receive(Opcode::WriteFirst) == RequestFilter::Answer::None);
    assert_true(scene.receive(Opcode::WriteLastImm) == RequestFilter::Answer::NotReady);
}

void another_connection_begins_with_other_numbers(void**) {
    Scene scene("drop@2");
    assert_int_equal(scene.send(Opcode::SendOnly), OutPacket::kWhole);
    scene.traffic.restart();
    scene.psn -= 100;
    assert_int_equal(scene.send(Opcode::SendOnly), 0);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(the_third_packet_is_not_sent),
        cmocka_unit_test(answers_do_not_count),
        cmocka_unit_test(what_is_sent_again_does_not_count),
        cmocka_unit_test(half_of_a_small_write),
        cmocka_unit_test(half_of_a_write_of_several_packets),
        cmocka_unit_test(half_of_a_write_at_the_border_of_two_packets),
        cmocka_unit_test(half_of_a_write_of_nothing),
        cmocka_unit_test(a_packet_waits_once),
        cmocka_unit_test(requests_are_refused_at_their_first_packet),
        cmocka_unit_test(only_what_needs_a_receive_finds_none),
        cmocka_unit_test(another_connection_begins_with_other_numbers),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
