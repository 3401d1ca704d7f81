// SPDX-License-Identifier: BSD-3-Clause
// Lost, repeated and reordered packets, and sequence numbers that wrap around.
#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "cmocka.hpp"
#include "endpoints.hpp"
#include "rc/psn.hpp"

using namespace fabric;
using namespace fabric::test;
using wire::Opcode;

namespace {

Setup starting_at(std::uint32_t psn) {
    Setup setup;
    setup.a.send_psn = setup.b.receive_psn = psn;
    setup.b.send_psn = setup.a.receive_psn = psn;
    setup.a.retry_count = setup.b.retry_count = 7;
    return setup;
}

// One of everything, with results that show whether each was done exactly once.
struct Session {
    explicit Session(const Setup& setup) : pair(setup) {}

    void post_all() {
        words.word(0) = 100;
        pair.b.receive(50, {inbox.sge(0, 1000)});
        pair.b.receive(51, {});
        write(1, 700);
        post(pair.a, {.wr_id = 2, .sges = {from.sge(0, 600)}});
        read(3, 0, 900);
        add(4, 0);
        post(pair.a, {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                      .wr_id = 5,
                      .sges = {from.sge(1000, 300)},
                      .remote = to.address(1000),
                      .rkey = to.key(),
                      .immediate = 9});
        add(6, 1);
        read(7, 1000, 257);
    }

    void write(std::uint64_t wr_id, std::size_t length) {
        post(pair.a, {.opcode = IBV_WR_RDMA_WRITE,
                      .wr_id = wr_id,
                      .sges = {from.sge(0, length)},
                      .remote = to.address(),
                      .rkey = to.key()});
    }

    void read(std::uint64_t wr_id, std::size_t offset, std::size_t length) {
        post(pair.a, {.opcode = IBV_WR_RDMA_READ,
                      .wr_id = wr_id,
                      .sges = {result.sge(offset, length)},
                      .remote = source.address(offset),
                      .rkey = source.key()});
    }

    void add(std::uint64_t wr_id, std::size_t slot) {
        post(pair.a, {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                      .wr_id = wr_id,
                      .sges = {originals.sge(8 * slot, 8)},
                      .remote = words.address(),
                      .rkey = words.key(),
                      .compare_add = 1});
    }

    // The last packets of a burst can be lost without anyone noticing: later traffic shows it.
    void run_to_the_end() {
        pair.run();
        for (std::uint64_t extra = 100; pair.a.sends.size() < 7 && extra < 106; ++extra) {
            post(pair.a, {.opcode = IBV_WR_RDMA_WRITE, .wr_id = extra});
            pair.run();
        }
    }

    void expect_everything_once() {
        for (std::uint64_t id = 1; id <= 7; ++id) {
            const rc::Completion done = pair.a.sent();
            assert_int_equal(done.wc.status, IBV_WC_SUCCESS);
            assert_int_equal(done.wc.wr_id, id);
        }
        assert_int_equal(pair.b.receives.size(), 2);
        assert_int_equal(pair.b.received().wc.byte_len, 600);
        assert_int_equal(pair.b.received().wc.imm_data, 9);
        assert_int_equal(words.word(0), 102);
        assert_int_equal(originals.word(0), 100);
        assert_int_equal(originals.word(1), 101);
        assert_true(equal(to.bytes().first(700), from.bytes().first(700)));
        assert_true(equal(to.bytes().subspan(1000, 300), from.bytes().subspan(1000, 300)));
        assert_true(equal(inbox.bytes().first(600), from.bytes().first(600)));
        assert_true(equal(result.bytes().first(900), source.bytes().first(900)));
        assert_true(equal(result.bytes().subspan(1000, 257), source.bytes().subspan(1000, 257)));
        assert_int_equal(pair.a.endpoint.state(), IBV_QPS_RTS);
        assert_int_equal(pair.b.endpoint.state(), IBV_QPS_RTS);
        assert_false(pair.fatal);
    }

    Pair pair;
    Block from{pair.a.pd(), 2000, kAllAccess, 1};
    Block result{pair.a.pd(), 2000, kAllAccess, 2};
    Block originals{pair.a.pd(), 64, kAllAccess, 3};
    Block to{pair.b.pd(), 2000, kAllAccess, 4};
    Block inbox{pair.b.pd(), 1000, kAllAccess, 5};
    Block source{pair.b.pd(), 2000, kAllAccess, 6};
    Block words{pair.b.pd(), 64, kAllAccess, 7};
};

std::size_t packets_of_a_session() {
    Session session(starting_at(0));
    session.post_all();
    session.pair.run();
    session.expect_everything_once();
    return session.pair.log.size();
}

void sequence_numbers_wrap(void**) {
    for (std::uint32_t back = 0; back < 30; ++back) {
        Session session(starting_at((0x1000000U - back) & 0xffffff));
        session.post_all();
        session.pair.run();
        session.expect_everything_once();
    }
    for (const std::uint32_t start : {0x7fffffU, 0x800000U, 0x7ffff8U}) {
        Session session(starting_at(start));
        session.post_all();
        session.pair.run();
        session.expect_everything_once();
    }
}

void any_one_lost_packet_is_made_good(void**) {
    const std::size_t total = packets_of_a_session();
    assert_true(total > 15);
    for (std::size_t lost = 0; lost < total; ++lost) {
        Session session(starting_at(0xfffff5));
        std::size_t count = 0;
        session.pair.filter = [&](Packet&) { return count++ != lost; };
        session.post_all();
        session.run_to_the_end();
        session.expect_everything_once();
    }
}

// A lost NAK would need a timer; carriers that lose packets are not served yet.
void any_two_lost_requests_are_made_good(void**) {
    const std::size_t total = packets_of_a_session();
    for (std::size_t first = 0; first < total; ++first) {
        for (std::size_t second = first + 1; second < total + 5; ++second) {
            Session session(starting_at(0xfffff5));
            std::size_t count = 0;
            session.pair.filter = [&](Packet& packet) {
                const std::size_t now = count;
                count += packet.to_b ? 1 : 0;
                return !packet.to_b || (now != first && now != second);
            };
            session.post_all();
            session.run_to_the_end();
            session.expect_everything_once();
        }
    }
}

void repeated_packets_do_no_harm(void**) {
    const std::size_t total = packets_of_a_session();
    for (std::size_t repeated = 0; repeated <= total; ++repeated) {
        Session session(starting_at(0xfffff5));
        std::size_t count = 0;
        session.pair.filter = [&](Packet& packet) {
            if (count++ == repeated || repeated == total) {
                session.pair.deliver(packet);
            }
            return true;
        };
        session.post_all();
        session.pair.run();
        session.expect_everything_once();
    }
}

void swapped_packets_are_put_right(void**) {
    const std::size_t total = packets_of_a_session();
    for (std::size_t swapped = 0; swapped + 1 < total; ++swapped) {
        Session session(starting_at(0xfffff5));
        std::size_t count = 0;
        std::optional<Packet> held;
        session.pair.filter = [&](Packet& packet) {
            if (count++ == swapped) {
                held = packet;
                return false;
            }
            if (held && held->to_b == packet.to_b) {
                const Packet late = *held;
                held.reset();
                session.pair.deliver(packet);
                session.pair.deliver(late);
                return false;
            }
            return true;
        };
        session.post_all();
        session.run_to_the_end();
        session.expect_everything_once();
    }
}

void a_packet_that_never_arrives_exhausts_the_retries(void**) {
    Setup setup = starting_at(0);
    setup.a.retry_count = 3;
    Session session(setup);
    std::size_t tries = 0;
    session.pair.filter = [&](Packet& packet) {
        const bool unlucky = packet.to_b && packet.header.psn == 1;
        tries += unlucky ? 1 : 0;
        return !unlucky;
    };
    session.post_all();
    session.pair.run();
    const rc::Completion failed = session.pair.a.sent();
    assert_int_equal(failed.wc.wr_id, 1);
    assert_int_equal(failed.wc.status, IBV_WC_RETRY_EXC_ERR);
    assert_int_equal(tries, 4);
    for (std::uint64_t id = 2; id <= 7; ++id) {
        assert_int_equal(session.pair.a.sent().wc.status, IBV_WC_WR_FLUSH_ERR);
    }
}

void the_rest_of_a_read_is_asked_for(void**) {
    Session session(starting_at(10));
    std::size_t responses = 0;
    session.pair.filter = [&](Packet& packet) { return packet.to_b || ++responses != 3; };
    session.read(1, 0, 1500);  // six packets, the third is lost
    session.pair.run();
    assert_int_equal(session.pair.a.sent().wc.status, IBV_WC_SUCCESS);
    assert_true(equal(session.result.bytes().first(1500), session.source.bytes().first(1500)));
    std::vector<Packet> requests;
    std::copy_if(session.pair.log.begin(), session.pair.log.end(), std::back_inserter(requests),
                 [](const Packet& packet) { return packet.to_b; });
    assert_int_equal(requests.size(), 2);
    assert_int_equal(requests[1].header.psn, 12);
    assert_int_equal(requests[1].header.remote_address, session.source.address(512));
    assert_int_equal(requests[1].header.dma_length, 1500 - 512);
}

void reads_use_one_number_per_response_packet(void**) {
    const std::pair<std::size_t, std::uint32_t> cases[] = {
        {0, 1}, {1, 1}, {256, 1}, {257, 2}, {1500, 6}};
    for (const auto& [length, numbers] : cases) {
        Session session(starting_at(0xffffff));
        session.read(1, 0, length);
        session.write(2, 1);
        session.pair.collect();
        assert_int_equal(session.pair.log[0].header.psn, 0xffffff);
        assert_int_equal(session.pair.log[1].header.psn, (0xffffff + numbers) & 0xffffff);
    }
}

void a_duplicate_atomic_gets_the_first_result(void**) {
    Session session(starting_at(0));
    session.words.word(0) = 100;
    session.add(1, 0);
    session.pair.collect();
    const Packet request = session.pair.flight.front();
    session.pair.exchange();
    session.pair.deliver(request);
    session.pair.collect();
    assert_int_equal(session.pair.flight.size(), 1);
    assert_int_equal(session.pair.flight.front().header.opcode, Opcode::AtomicAcknowledge);
    assert_int_equal(session.pair.flight.front().header.original, 100);
    assert_int_equal(session.words.word(0), 101);
}

void a_forgotten_duplicate_is_ignored(void**) {
    Session session(starting_at(0));
    session.add(1, 0);
    session.pair.collect();
    const Packet request = session.pair.flight.front();
    for (int i = 0; i < 5; ++i) {  // four results are kept
        session.add(2, 0);
        session.pair.exchange();
    }
    const std::uint64_t now = session.words.word(0);
    session.pair.deliver(request);
    assert_false(session.pair.collect());
    assert_int_equal(session.words.word(0), now);
}

void a_changed_duplicate_read_is_ignored(void**) {
    Session session(starting_at(0));
    session.read(1, 0, 1000);
    session.pair.collect();
    Packet request = session.pair.flight.front();
    session.pair.exchange();
    request.header.remote_address += 1;
    session.pair.deliver(request);
    assert_false(session.pair.collect());
}

void only_one_sequence_nak_is_sent_for_a_gap(void**) {
    Session session(starting_at(0));
    session.write(1, 1500);
    session.pair.collect();
    session.pair.flight.pop_front();
    while (!session.pair.flight.empty()) {
        session.pair.deliver(session.pair.flight.front());
        session.pair.flight.pop_front();
    }
    session.pair.collect();
    assert_int_equal(session.pair.flight.size(), 1);
    assert_int_equal(session.pair.flight.front().header.syndrome, 0x60);
    assert_int_equal(session.pair.flight.front().header.psn, 0);
}

void the_psn_window_is_never_exceeded(void**) {
    static_assert(rc::psn_before(0xffffff, 0));
    static_assert(!rc::psn_before(0, 0xffffff));
    static_assert(rc::psn_before(0, 0x800000));
    static_assert(!rc::psn_before(0, 0x800001));
    static_assert(!rc::psn_before(5, 5));
    // 2^31 bytes in packets of 256 take all the numbers that may be in flight: what comes behind
    // has to wait.
    Session session(starting_at(0));
    constexpr std::size_t kHuge = std::size_t{1} << 31;
    void* const space = mmap(nullptr, kHuge, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(space, MAP_FAILED);
    memory::Region* region = nullptr;
    const auto address = reinterpret_cast<std::uintptr_t>(space);
    assert_int_equal(memory::Table::instance().add(session.pair.a.pd(), space, kHuge, address,
                                                   IBV_ACCESS_LOCAL_WRITE, &region),
                     0);
    const ibv_sge all{address, 1U << 31, region->key};
    post(session.pair.a, {.opcode = IBV_WR_RDMA_READ, .sges = {all}, .remote = 0, .rkey = 0});
    session.write(2, 1);
    session.pair.collect();
    assert_int_equal(session.pair.log.size(), 1);
    assert_int_equal(session.pair.log[0].header.dma_length, 1U << 31);
    session.pair.a.endpoint.set_state(IBV_QPS_ERR);
    memory::Table::instance().retire(region);
    memory::Table::instance().free(region);
    munmap(space, kHuge);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(sequence_numbers_wrap),
        cmocka_unit_test(any_one_lost_packet_is_made_good),
        cmocka_unit_test(any_two_lost_requests_are_made_good),
        cmocka_unit_test(repeated_packets_do_no_harm),
        cmocka_unit_test(swapped_packets_are_put_right),
        cmocka_unit_test(a_packet_that_never_arrives_exhausts_the_retries),
        cmocka_unit_test(the_rest_of_a_read_is_asked_for),
        cmocka_unit_test(reads_use_one_number_per_response_packet),
        cmocka_unit_test(a_duplicate_atomic_gets_the_first_result),
        cmocka_unit_test(a_forgotten_duplicate_is_ignored),
        cmocka_unit_test(a_changed_duplicate_read_is_ignored),
        cmocka_unit_test(only_one_sequence_nak_is_sent_for_a_gap),
        cmocka_unit_test(the_psn_window_is_never_exceeded),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
