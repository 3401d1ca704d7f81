// SPDX-License-Identifier: BSD-3-Clause
// Packets as bytes: every opcode against bytes written by hand, both ways, and what is not a
// packet.
#include "wire/packet.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "cmocka.hpp"
#include "golden.hpp"

using namespace fabric;
using namespace fabric::test;
using wire::Opcode;

namespace {

std::span<const std::byte> as_bytes(const std::vector<std::uint8_t>& bytes) {
    return std::as_bytes(std::span(bytes));
}

void expect(bool good, const Golden& golden) {
    if (!good) {
        print_error("%s\n", golden.name);
    }
    assert_true(good);
}

void assert_same(const wire::Header& left, const wire::Header& right) {
    assert_int_equal(left.opcode, right.opcode);
    assert_int_equal(left.solicited, right.solicited);
    assert_int_equal(left.ack_request, right.ack_request);
    assert_int_equal(left.overtakes, right.overtakes);
    assert_int_equal(left.pad, right.pad);
    assert_int_equal(left.destination_qp, right.destination_qp);
    assert_int_equal(left.psn, right.psn);
    assert_int_equal(left.remote_address, right.remote_address);
    assert_int_equal(left.rkey, right.rkey);
    assert_int_equal(left.dma_length, right.dma_length);
    assert_int_equal(left.swap_or_add, right.swap_or_add);
    assert_int_equal(left.compare, right.compare);
    assert_int_equal(left.syndrome, right.syndrome);
    assert_int_equal(left.msn, right.msn);
    assert_int_equal(left.original, right.original);
    assert_int_equal(left.immediate, right.immediate);
    assert_int_equal(left.flush_type, right.flush_type);
    assert_int_equal(left.flush_level, right.flush_level);
    assert_int_equal(left.q_key, right.q_key);
    assert_int_equal(left.source_qp, right.source_qp);
}

void every_opcode_encodes_to_its_bytes(void**) {
    for (const Golden& golden : golden()) {
        std::array<std::byte, wire::kMaxHeaderBytes> out{};
        const std::size_t size = wire::encode(golden.header, out);
        const bool same =
            size == golden.bytes.size() && std::memcmp(out.data(), golden.bytes.data(), size) == 0;
        expect(same, golden);
        assert_int_equal(size, wire::header_bytes(golden.header.opcode));
    }
}

void every_opcode_decodes_from_its_bytes(void**) {
    for (const Golden& golden : golden()) {
        const auto header = wire::decode(as_bytes(golden.bytes));
        expect(header.has_value(), golden);
        assert_same(*header, golden.header);
    }
}

void all_opcodes_are_covered(void**) {
    std::vector<std::uint8_t> known;
    for (unsigned value = 0; value < 256; ++value) {
        if (wire::header_bytes(static_cast<Opcode>(value)) != 0) {
            known.push_back(static_cast<std::uint8_t>(value));
        }
    }
    std::vector<std::uint8_t> tested;
    for (const Golden& golden : golden()) {
        tested.push_back(static_cast<std::uint8_t>(golden.header.opcode));
    }
    std::sort(tested.begin(), tested.end());
    assert_true(known == tested);
}

void one_byte_less_is_no_packet(void**) {
    for (const Golden& golden : golden()) {
        for (std::size_t size = 0; size < golden.bytes.size(); ++size) {
            assert_false(wire::decode(as_bytes(golden.bytes).first(size)).has_value());
        }
        std::vector<std::byte> small(golden.bytes.size() - 1);
        assert_int_equal(wire::encode(golden.header, small), 0);
    }
}

void unknown_opcodes_are_no_packets(void**) {
    std::vector<std::uint8_t> bytes(wire::kMaxHeaderBytes, 0);
    bytes[2] = bytes[3] = 0xff;
    for (unsigned value = 0; value < 256; ++value) {
        bytes[0] = static_cast<std::uint8_t>(value);
        const bool known = wire::header_bytes(static_cast<Opcode>(value)) != 0;
        assert_int_equal(wire::decode(as_bytes(bytes)).has_value(), known);
    }
    std::array<std::byte, wire::kMaxHeaderBytes> out{};
    wire::Header header;
    header.opcode = static_cast<Opcode>(0x1f);
    assert_int_equal(wire::encode(header, out), 0);
}

void other_versions_and_partitions_are_refused(void**) {
    std::vector<std::uint8_t> bytes = {0x04, 0x00, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 1};
    assert_true(wire::decode(as_bytes(bytes)).has_value());
    for (const std::uint8_t version : {std::uint8_t{1}, std::uint8_t{8}, std::uint8_t{15}}) {
        bytes[1] = version;
        assert_false(wire::decode(as_bytes(bytes)).has_value());
    }
    bytes[1] = 0;
    bytes[2] = 0x7f;  // a limited member of the default partition may talk to a full one
    assert_true(wire::decode(as_bytes(bytes)).has_value());
    bytes[3] = 0xfe;
    assert_false(wire::decode(as_bytes(bytes)).has_value());
}

void reserved_bits_do_not_matter(void**) {
    std::vector<std::uint8_t> bytes = {0x04, 0x40, 0xff, 0xff, 0xff, 0, 0, 1, 0x7f, 0, 0, 2};
    const auto header = wire::decode(as_bytes(bytes));
    assert_true(header.has_value());
    assert_int_equal(header->destination_qp, 1);
    assert_int_equal(header->psn, 2);
    assert_false(header->ack_request);
    assert_false(header->solicited);
}

void the_mark_of_overtaking_writes_is_one_reserved_bit(void**) {
    wire::Header header;
    header.opcode = Opcode::WriteLast;
    header.destination_qp = 0x123456;
    header.overtakes = true;
    std::array<std::byte, wire::kMaxHeaderBytes> out{};
    const std::size_t size = wire::encode(header, out);
    assert_int_equal(out[4], 1);
    const auto back = wire::decode(std::span(out).first(size));
    assert_true(back.has_value());
    assert_same(*back, header);
}

void wide_values_are_cut_to_their_field(void**) {
    wire::Header header;
    header.opcode = Opcode::Acknowledge;
    header.destination_qp = 0xff123456;
    header.psn = 0xffabcdef;
    header.msn = 0xff010203;
    header.pad = 7;
    std::array<std::byte, wire::kMaxHeaderBytes> out{};
    const std::size_t size = wire::encode(header, out);
    const auto back = wire::decode(std::span(out).first(size));
    assert_true(back.has_value());
    assert_int_equal(back->destination_qp, 0x123456);
    assert_int_equal(back->psn, 0xabcdef);
    assert_int_equal(back->msn, 0x010203);
    assert_int_equal(back->pad, 3);
    assert_false(back->ack_request);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(every_opcode_encodes_to_its_bytes),
        cmocka_unit_test(every_opcode_decodes_from_its_bytes),
        cmocka_unit_test(all_opcodes_are_covered),
        cmocka_unit_test(one_byte_less_is_no_packet),
        cmocka_unit_test(unknown_opcodes_are_no_packets),
        cmocka_unit_test(other_versions_and_partitions_are_refused),
        cmocka_unit_test(reserved_bits_do_not_matter),
        cmocka_unit_test(the_mark_of_overtaking_writes_is_one_reserved_bit),
        cmocka_unit_test(wide_values_are_cut_to_their_field),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
