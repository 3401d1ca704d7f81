// SPDX-License-Identifier: BSD-3-Clause
// Links between two ends that follow the rules.
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "cmocka.hpp"
#include "links.hpp"
#include "waiting.hpp"

namespace carrier = fabric::carrier;
using links::Bytes;

namespace {

const fabric::memory::Region kRegion{};

void assert_equal(const Bytes& got, std::span<const std::byte> wanted) {
    assert_int_equal(got.size(), wanted.size());
    assert_memory_equal(got.data(), wanted.data(), wanted.size());
}

Bytes mad(unsigned seed) {
    return links::pattern(256, seed);
}

void tells_when_it_is_up_and_where_it_ends(void**) {
    links::Pair pair;
    const auto port = [](const sockaddr_storage& address) {
        return reinterpret_cast<const sockaddr_in&>(address).sin_port;
    };
    assert_int_equal(port(pair.a.link->local_address()), port(pair.b.link->peer_address()));
    assert_int_equal(port(pair.b.link->local_address()), port(pair.a.link->peer_address()));
    assert_int_not_equal(pair.a.link->id(), pair.b.link->id());
    assert_int_equal(pair.a.control->losses, 0);
}

void nobody_listens(void**) {
    std::unique_ptr<carrier::Listener> listener;
    assert_int_equal(carrier::listen(
                         links::loopback(0), 1, [](auto) {}, &listener),
                     0);
    const sockaddr_storage address = listener->address();
    listener.reset();
    links::End end;
    assert_int_equal(carrier::connect({}, address, end.control, &end.link), 0);
    assert_true(eventually([&] { return end.control->losses == 1; }));
    assert_int_equal(end.control->last_error, ECONNREFUSED);
    assert_int_equal(end.control->ups, 0);
    end.link->close();
}

void datagrams_arrive_whole_and_in_order(void**) {
    links::Pair pair;
    for (unsigned i = 0; i < 300; ++i)
        pair.a.link->send_datagram(mad(i));
    assert_true(eventually([&] { return pair.b.control->count() == 300; }));
    for (unsigned i = 0; i < 300; ++i)
        assert_equal(pair.b.control->at(i), mad(i));
}

void packets_of_all_sizes(void**) {
    links::Pair pair;
    pair.bind_packets();
    const std::size_t sizes[] = {0,     1,      2,      3,       4,       8,    63,    511,
                                 512,   513,    1024,   4095,    4096,    4097, 5000,  32767,
                                 32768, 65535,  65536,  131072,  7,       4097, 32768, 32768,
                                 32768, 262144, 524288, 1 << 20, 4 << 20, 5};
    std::vector<Bytes> sent;
    std::uint32_t psn = 0;
    for (const std::size_t size : sizes)
        sent.push_back(links::pattern(size, static_cast<unsigned>(size)));
    for (Bytes& payload : sent)
        pair.a.packets->send(links::write_header(psn++, payload.size()), payload, &kRegion);
    pair.a.link->kick();
    assert_true(eventually([&] { return pair.b.packets->count() == sent.size(); }));
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const auto got = pair.b.packets->at(i);
        assert_int_equal(got.header.psn, i);
        assert_true(got.placed);
        assert_equal(got.payload, sent[i]);
    }
}

void both_directions_at_once(void**) {
    constexpr std::size_t kPackets = 200;
    links::Pair pair;
    pair.bind_packets();
    Bytes large = links::pattern(40000, 1);
    Bytes small = links::pattern(100, 2);
    for (std::uint32_t i = 0; i < kPackets; ++i) {
        Bytes& payload = i % 3 == 0 ? large : small;
        for (const links::End* end : {&pair.a, &pair.b})
            end->packets->send(links::write_header(i, payload.size()), payload, &kRegion);
    }
    pair.a.link->kick();
    pair.b.link->kick();
    for (const links::End* end : {&pair.a, &pair.b}) {
        assert_true(eventually([&] { return end->packets->count() == kPackets; }));
        for (std::size_t i = 0; i < kPackets; ++i)
            assert_equal(end->packets->at(i).payload, i % 3 == 0 ? large : small);
    }
}

void data_that_is_not_registered_is_copied_at_once(void**) {
    links::Pair pair;
    pair.bind_packets();
    Bytes payload = links::pattern(1024, 3);
    const Bytes copy = payload;
    pair.a.packets->send(links::write_header(0, payload.size()), payload, nullptr);
    pair.a.link->kick();
    std::fill(payload.begin(), payload.end(), std::byte{0});
    assert_true(eventually([&] { return pair.b.packets->count() == 1; }));
    assert_equal(pair.b.packets->at(0).payload, copy);
}

void packets_wait_for_their_handler(void**) {
    links::Pair pair;
    pair.a.link->set_packets(pair.a.packets);
    Bytes small = links::pattern(64, 4);
    Bytes large = links::pattern(300000, 5);
    pair.a.link->send_datagram(mad(1));
    for (std::uint32_t i = 0; i < 50; ++i)
        pair.a.packets->send(links::write_header(i, small.size()), small, &kRegion);
    pair.a.packets->send(links::write_header(50, large.size()), large, &kRegion);
    pair.a.link->kick();
    assert_true(eventually([&] { return pair.b.control->count() == 1; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    assert_int_equal(pair.b.packets->begun, 0);
    pair.b.link->set_packets(pair.b.packets);
    assert_true(eventually([&] { return pair.b.packets->count() == 51; }));
    assert_equal(pair.b.packets->at(50).payload, large);
}

void packets_wait_although_the_peer_has_gone(void**) {
    links::Pair pair;
    pair.a.link->set_packets(pair.a.packets);
    Bytes small = links::pattern(64, 4);
    pair.a.packets->send(links::write_header(9, small.size()), small, &kRegion);
    pair.a.link->kick();
    pair.a.link->close();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    assert_int_equal(pair.b.control->losses, 0);
    pair.b.link->set_packets(pair.b.packets);
    assert_true(eventually([&] { return pair.b.control->losses == 1; }));
    assert_int_equal(pair.b.control->last_error, 0);
    assert_int_equal(pair.b.packets->count(), 1);
    assert_equal(pair.b.packets->at(0).payload, small);
}

void closing_in_order(void**) {
    links::Pair pair;
    pair.bind_packets();
    Bytes large = links::pattern(2 << 20, 6);
    pair.a.packets->send(links::write_header(0, large.size()), large, &kRegion);
    pair.a.link->kick();
    pair.a.link->send_datagram(mad(7));
    pair.a.link->close();
    assert_true(eventually([&] { return pair.b.control->losses == 1; }));
    assert_int_equal(pair.b.control->last_error, 0);
    assert_int_equal(pair.b.packets->lost, 1);
    assert_equal(pair.b.packets->at(0).payload, large);
    assert_equal(pair.b.control->at(0), mad(7));
    // The side that closed is not called any more.
    assert_int_equal(pair.a.control->losses, 0);
    assert_int_equal(pair.a.packets->lost, 0);
}

void a_detached_handler_is_not_called(void**) {
    links::Pair pair;
    pair.bind_packets();
    Bytes large = links::pattern(1 << 20, 8);
    for (std::uint32_t i = 0; i < 20; ++i)
        pair.a.packets->send(links::write_header(i, large.size()), large, &kRegion);
    pair.a.link->kick();
    assert_true(eventually([&] { return pair.b.packets->begun > 0; }));
    pair.b.link->set_packets(nullptr);
    const int begun = pair.b.packets->begun;
    const std::size_t ended = pair.b.packets->count();
    // The peer goes on, nobody takes it, so the link ends.
    assert_true(eventually([&] { return pair.a.control->losses == 1; }));
    assert_int_equal(pair.b.packets->begun, begun);
    assert_int_equal(pair.b.packets->count(), ended);
}

void memory_that_is_released_while_sent_is_copied(void**) {
    links::Bare peer(4096);
    peer.end.link->set_packets(peer.end.packets);
    Bytes large = links::pattern(4 << 20, 9);
    const Bytes copy = large;
    peer.end.packets->send(links::write_header(0, large.size()), large, &kRegion);
    peer.end.link->kick();
    carrier::release_everywhere(&kRegion);
    std::fill(large.begin(), large.end(), std::byte{0});
    const Bytes packet = peer.read_frame();
    const std::size_t headers = fabric::wire::header_bytes(fabric::wire::Opcode::WriteOnly);
    assert_int_equal(packet.size(), headers + copy.size());
    assert_memory_equal(packet.data() + headers, copy.data(), copy.size());
}

void memory_that_is_released_while_received_into_is_not_written(void**) {
    links::Bare peer;
    peer.end.link->set_packets(peer.end.packets);
    Bytes place(1 << 20);
    peer.end.packets->place = place.data();
    peer.end.packets->place_region = &kRegion;
    const Bytes whole =
        links::frame(links::write_header(0, place.size()), links::pattern(place.size(), 10));
    peer.write(std::span(whole).first(300000));
    assert_true(eventually([&] { return peer.end.packets->begun == 1; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    carrier::release_everywhere(&kRegion);
    const Bytes before = place;
    peer.write(std::span(whole).subspan(300000));
    assert_true(eventually([&] { return peer.end.packets->count() == 1; }));
    assert_false(peer.end.packets->at(0).placed);
    assert_equal(place, before);
}

void a_slow_reader_does_not_hold_up_other_links(void**) {
    links::Bare slow(4096);
    slow.end.link->set_packets(slow.end.packets);
    Bytes large = links::pattern(1 << 18, 11);
    for (std::uint32_t i = 0; i < 300; ++i)
        slow.end.packets->send(links::write_header(i, large.size()), large, &kRegion);
    slow.end.link->kick();
    links::Pair pair;
    pair.bind_packets();
    for (std::uint32_t i = 0; i < 5; ++i)
        pair.a.packets->send(links::write_header(i, large.size()), large, &kRegion);
    pair.a.link->kick();
    assert_true(eventually([&] { return pair.b.packets->count() == 5; }));
    assert_true(slow.end.packets->waiting() > 0);
    for (std::uint32_t i = 0; i < 300; ++i)
        assert_int_equal(
            slow.read_frame().size(),
            large.size() + fabric::wire::header_bytes(fabric::wire::Opcode::WriteOnly));
}

void a_port_can_be_taken_again_at_once(void**) {
    std::unique_ptr<carrier::Listener> first;
    std::vector<std::shared_ptr<carrier::Link>> kept;
    std::mutex mutex;
    const auto keep = [&](std::shared_ptr<carrier::Link> link) {
        const std::lock_guard guard(mutex);
        kept.push_back(std::move(link));
    };
    assert_int_equal(carrier::listen(links::loopback(0), 4, keep, &first), 0);
    const sockaddr_storage address = first->address();
    std::unique_ptr<carrier::Listener> second;
    assert_int_equal(carrier::listen(address, 4, keep, &second), EADDRINUSE);
    for (int round = 0; round < 20; ++round) {
        links::End end;
        assert_int_equal(carrier::connect({}, address, end.control, &end.link), 0);
        assert_true(eventually([&] {
            const std::lock_guard guard(mutex);
            return end.control->ups == 1 && kept.size() == 1;
        }));
        (round % 2 == 0 ? kept.front() : end.link)->close();
        first.reset();
        assert_int_equal(carrier::listen(address, 4, keep, &first), 0);
        kept.front()->close();
        end.link->close();
        kept.clear();
    }
}

void a_link_nobody_keeps_is_closed(void**) {
    std::unique_ptr<carrier::Listener> listener;
    assert_int_equal(carrier::listen(
                         links::loopback(0), 1, [](auto) {}, &listener),
                     0);
    links::End end;
    assert_int_equal(carrier::connect({}, listener->address(), end.control, &end.link), 0);
    assert_true(eventually([&] { return end.control->losses == 1; }));
    assert_int_equal(end.control->last_error, 0);
    end.link->close();
}

void addresses_that_are_none(void**) {
    sockaddr_storage nonsense{};
    nonsense.ss_family = AF_UNIX;
    links::End end;
    std::unique_ptr<carrier::Listener> listener;
    assert_int_equal(carrier::connect({}, nonsense, end.control, &end.link), EAFNOSUPPORT);
    assert_int_equal(carrier::listen(
                         nonsense, 1, [](auto) {}, &listener),
                     EAFNOSUPPORT);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(tells_when_it_is_up_and_where_it_ends),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(datagrams_arrive_whole_and_in_order),
        cmocka_unit_test(packets_of_all_sizes),
        cmocka_unit_test(both_directions_at_once),
        cmocka_unit_test(data_that_is_not_registered_is_copied_at_once),
        cmocka_unit_test(packets_wait_for_their_handler),
        cmocka_unit_test(packets_wait_although_the_peer_has_gone),
        cmocka_unit_test(closing_in_order),
        cmocka_unit_test(a_detached_handler_is_not_called),
        cmocka_unit_test(memory_that_is_released_while_sent_is_copied),
        cmocka_unit_test(memory_that_is_released_while_received_into_is_not_written),
        cmocka_unit_test(a_slow_reader_does_not_hold_up_other_links),
        cmocka_unit_test(a_port_can_be_taken_again_at_once),
        cmocka_unit_test(a_link_nobody_keeps_is_closed),
        cmocka_unit_test(addresses_that_are_none),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
