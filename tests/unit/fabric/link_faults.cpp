// SPDX-License-Identifier: BSD-3-Clause
// Links whose peer breaks the rules or goes away, and programs that take their memory away.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>

#include "cmocka.hpp"
#include "links.hpp"
#include "waiting.hpp"

using links::Bytes;
namespace wire = fabric::wire;

namespace {

const fabric::memory::Region kRegion{};

void assert_broken(links::Bare& peer) {
    assert_true(eventually([&] { return peer.end.control->losses == 1; }));
    assert_int_equal(peer.end.control->last_error, EPROTO);
    assert_int_equal(peer.end.packets->lost, 1);
    std::array<std::byte, 1> more{};
    assert_false(peer.read(more));
}

void send_and_assert_broken(std::span<const std::byte> bytes) {
    links::Bare peer;
    peer.end.link->set_packets(peer.end.packets);
    peer.write(bytes);
    assert_broken(peer);
}

void garbage_ends_the_link(void**) {
    std::mt19937 random(1);
    for (int round = 0; round < 20; ++round) {
        Bytes garbage(2000);
        std::generate(garbage.begin(), garbage.end(),
                      [&] { return static_cast<std::byte>(random()); });
        garbage[0] = static_cast<std::byte>(random() | 1);  // a length that is too large
        send_and_assert_broken(garbage);
    }
}

void wrong_lengths_end_the_link(void**) {
    for (const std::uint32_t length : {0U, 1U, 11U, (4U << 20) + 68, 0x01000000U, 0xffffffffU}) {
        Bytes bytes(400);
        for (std::size_t i = 0; i < 4; ++i)
            bytes[i] = static_cast<std::byte>(length >> (24 - 8 * i));
        send_and_assert_broken(bytes);
    }
}

void a_packet_shorter_than_its_headers_ends_the_link(void**) {
    Bytes whole = links::frame(links::write_header(0, 0), {});
    whole[3] = std::byte{20};  // BTH and half a RETH
    whole.resize(24);
    send_and_assert_broken(whole);
    Bytes padded = links::frame(links::write_header(0, 0), {});
    padded[5] |= std::byte{0x30};  // three bytes of padding that are not there
    send_and_assert_broken(padded);
}

void an_unknown_opcode_ends_the_link(void**) {
    Bytes whole = links::frame(links::write_header(0, 8), links::pattern(8, 1));
    whole[4] = std::byte{0xff};
    send_and_assert_broken(whole);
}

void garbage_behind_good_packets(void**) {
    links::Bare peer;
    peer.end.link->set_packets(peer.end.packets);
    const Bytes payload = links::pattern(100, 2);
    Bytes bytes = links::frame(links::write_header(0, payload.size()), payload);
    bytes.insert(bytes.end(), 64, std::byte{0xff});
    peer.write(bytes);
    assert_broken(peer);
    assert_int_equal(peer.end.packets->count(), 1);
    assert_true(peer.end.packets->at(0).payload == payload);
}

void datagrams_must_be_management_datagrams(void**) {
    wire::Header good;
    good.opcode = wire::Opcode::UdSendOnly;
    good.destination_qp = wire::kCmQpNumber;
    good.source_qp = wire::kCmQpNumber;
    good.q_key = wire::kCmQKey;
    const Bytes mad = links::pattern(256, 3);
    links::Bare peer;
    peer.write(links::frame(good, mad));
    assert_true(eventually([&] { return peer.end.control->count() == 1; }));
    assert_true(peer.end.control->at(0) == mad);

    wire::Header other_key = good;
    other_key.q_key = 1;
    wire::Header other_qp = good;
    other_qp.destination_qp = 2;
    send_and_assert_broken(links::frame(other_key, mad));
    send_and_assert_broken(links::frame(other_qp, mad));
    send_and_assert_broken(links::frame(good, links::pattern(252, 3)));
    send_and_assert_broken(links::frame(good, links::pattern(255, 3)));
}

void a_handler_may_end_the_link(void**) {
    links::Bare peer;
    peer.end.packets->refuse = true;
    peer.end.link->set_packets(peer.end.packets);
    peer.write(links::frame(links::write_header(0, 8), links::pattern(8, 4)));
    assert_broken(peer);
}

void payload_may_be_thrown_away(void**) {
    links::Bare peer;
    peer.end.packets->throw_away = true;
    peer.end.link->set_packets(peer.end.packets);
    for (const std::size_t size : {std::size_t{8}, std::size_t{4096}, std::size_t{200001}})
        peer.write(links::frame(links::write_header(0, size), links::pattern(size, 5)));
    assert_true(eventually([&] { return peer.end.packets->count() == 3; }));
    assert_int_equal(peer.end.control->losses, 0);
}

void bytes_one_at_a_time(void**) {
    links::Bare peer;
    peer.end.link->set_packets(peer.end.packets);
    const Bytes payload = links::pattern(21, 6);
    const Bytes whole = links::frame(links::write_header(0, payload.size()), payload);
    for (int round = 0; round < 3; ++round)
        for (const std::byte byte : whole) {
            peer.write({&byte, 1});
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    assert_true(eventually([&] { return peer.end.packets->count() == 3; }));
    for (std::size_t i = 0; i < 3; ++i)
        assert_true(peer.end.packets->at(i).payload == payload);
}

void closed_in_the_middle_of_a_frame(void**) {
    const Bytes whole = links::frame(links::write_header(0, 100000), links::pattern(100000, 7));
    for (const std::size_t cut :
         {std::size_t{2}, std::size_t{10}, std::size_t{5000}, std::size_t{90000}}) {
        links::Bare peer;
        peer.end.link->set_packets(peer.end.packets);
        peer.write(std::span(whole).first(cut));
        peer.close_socket();
        assert_true(eventually([&] { return peer.end.control->losses == 1; }));
        assert_int_equal(peer.end.control->last_error, 0);
        assert_int_equal(peer.end.packets->lost, 1);
        assert_int_equal(peer.end.packets->count(), 0);
    }
}

void a_reset_is_told_from_an_orderly_end(void**) {
    links::Bare peer;
    peer.end.link->set_packets(peer.end.packets);
    peer.reset_socket();
    assert_true(eventually([&] { return peer.end.control->losses == 1; }));
    assert_int_equal(peer.end.control->last_error, ECONNRESET);
    assert_int_equal(peer.end.packets->lost, 1);
}

void sending_to_a_peer_that_has_gone(void**) {
    links::Bare peer;
    peer.end.link->set_packets(peer.end.packets);
    Bytes large = links::pattern(1 << 20, 8);
    for (std::uint32_t i = 0; i < 50; ++i)
        peer.end.packets->send(links::write_header(i, large.size()), large, &kRegion);
    peer.end.link->kick();
    peer.close_socket();  // with data unread: the kernel resets the connection
    assert_true(eventually([&] { return peer.end.control->losses == 1; }));
    peer.end.link->kick();
    peer.end.link->send_datagram(large);
    assert_int_equal(peer.end.packets->lost, 1);
}

void memory_unmapped_while_received_into(void**) {
    constexpr std::size_t kSize = 1 << 20;
    links::Bare peer;
    peer.end.link->set_packets(peer.end.packets);
    void* const place = mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    peer.end.packets->place = static_cast<std::byte*>(place);
    peer.end.packets->place_region = &kRegion;
    for (const std::size_t size : {std::size_t{8}, kSize, std::size_t{16}})
        peer.write(links::frame(links::write_header(0, size), links::pattern(size, 9)));
    assert_true(eventually([&] { return peer.end.packets->count() == 3; }));
    for (std::size_t i = 0; i < 3; ++i)
        assert_false(peer.end.packets->at(i).placed);
    assert_int_equal(peer.end.control->losses, 0);
    munmap(place, kSize);
}

void memory_unmapped_while_sent(void**) {
    for (const std::size_t size : {std::size_t{8}, std::size_t{1} << 20}) {
        links::Bare peer;
        peer.end.link->set_packets(peer.end.packets);
        void* const place = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        peer.end.packets->send(links::write_header(0, size), {static_cast<std::byte*>(place), size},
                               &kRegion);
        peer.end.link->kick();
        assert_true(eventually([&] { return peer.end.control->losses == 1; }));
        assert_int_equal(peer.end.control->last_error, EFAULT);
        munmap(place, size);
    }
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(garbage_ends_the_link),
        cmocka_unit_test(wrong_lengths_end_the_link),
        cmocka_unit_test(a_packet_shorter_than_its_headers_ends_the_link),
        cmocka_unit_test(an_unknown_opcode_ends_the_link),
        cmocka_unit_test(garbage_behind_good_packets),
        cmocka_unit_test(datagrams_must_be_management_datagrams),
        cmocka_unit_test(a_handler_may_end_the_link),
        cmocka_unit_test(payload_may_be_thrown_away),
        cmocka_unit_test(bytes_one_at_a_time),
        cmocka_unit_test(closed_in_the_middle_of_a_frame),
        cmocka_unit_test(a_reset_is_told_from_an_orderly_end),
        cmocka_unit_test(sending_to_a_peer_that_has_gone),
        cmocka_unit_test(memory_unmapped_while_received_into),
        cmocka_unit_test(memory_unmapped_while_sent),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
