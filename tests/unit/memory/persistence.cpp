// SPDX-License-Identifier: BSD-3-Clause
// The account: from arrival to durability, on every platform.
#include "accounts.hpp"
#include "memory/persistence/finding.hpp"

using namespace fabric::test;

namespace {

constexpr std::array kPlatforms = {"adr,ddio=on",   "adr,ddio=off", "eadr,ddio=on",
                                   "eadr,ddio=off", "wsp,ddio=on",  "wsp,ddio=off"};

void platforms_are_read(void**) {
    const Platform all = platform("eadr,ddio=off,native-flush=off,memory=64M");
    assert_true(all.domain == Domain::Eadr && !all.ddio && !all.native_flush);
    assert_int_equal(all.memory, 64U << 20);
    assert_true(platform("adr").ddio && platform("adr").native_flush);
    for (const char* wrong : {"", "ADR", "adr,", "adr,ddio", "adr,ddio=yes", "adr,memory=0",
                              "adr,memory=1T", "adr,memory=99999999999999999999", "adr,memory=-1",
                              "adr,x=on", "adr,memory=20000000000G"}) {
        assert_true(!parse_platform(wrong).has_value() || std::strcmp(wrong, "adr,") == 0);
    }
}

// {platform, what a write needs to be durable}
void a_write_alone(void**) {
    for (const char* on : kPlatforms) {
        Account account(on);
        account.write(100, 300, 'a');
        const bool wsp = platform(on).domain == Domain::Wsp;
        assert_int_equal(account.durable(100, 300, 'a'), wsp);
        assert_int_equal(account.at_risk(), wsp ? 0 : 1);
    }
}

void a_read_behind_it(void**) {
    for (const char* on : kPlatforms) {
        Account account(on);
        account.write(100, 300, 'a');
        account.write(400, 10, 'b');
        assert_int_equal(account.model.read_matters(kConnection),
                         platform(on).domain != Domain::Wsp);
        account.model.read(kConnection);
        const bool lost = platform(on).domain == Domain::Adr && platform(on).ddio;
        assert_int_equal(account.durable(100, 300, 'a'), !lost);
        assert_int_equal(account.durable(400, 10, 'b'), !lost);
        assert_false(account.model.read_matters(kConnection));
        account.persist(100, 310);
        assert_true(account.durable(100, 300, 'a') && account.durable(400, 10, 'b'));
        assert_int_equal(account.at_risk(), 0);
    }
}

void a_read_of_another_connection_is_none(void**) {
    Account account("adr,ddio=off");
    account.write(0, 64, 'a');
    account.model.read(kConnection + 1);
    assert_true(account.durable(0, 64, 0));
}

void a_read_does_not_cover_what_comes_later(void**) {
    Account account("adr,ddio=off");
    account.write(0, 64, 'a');
    account.model.read(kConnection);
    account.write(64, 64, 'b');
    assert_true(account.durable(0, 64, 'a') && account.durable(64, 64, 0));
}

void a_message_makes_visible(void**) {
    for (const char* on : {"adr,ddio=on", "adr,ddio=off"}) {
        Account account(on);
        account.write(0, 64, 'a');
        assert_true(account.model.message_matters(kConnection));
        account.model.message(kConnection);
        assert_true(account.durable(0, 64, 0));
        assert_false(account.model.message_matters(kConnection));
        account.persist(0, 64);
        assert_true(account.durable(0, 64, 'a'));
    }
    Account account("eadr");
    account.write(0, 64, 'a');
    account.model.message(kConnection);
    assert_true(account.durable(0, 64, 'a'));
}

void without_ddio_a_read_behind_the_message_persists(void**) {
    Account account("adr,ddio=off");
    account.write(0, 64, 'a');
    account.model.message(kConnection);
    assert_true(account.model.read_matters(kConnection));
    account.model.read(kConnection);
    assert_true(account.durable(0, 64, 'a'));
}

void persisting_what_is_not_visible_is_too_early(void**) {
    Account account("adr");
    account.write(0, 64, 'a');
    account.persist(0, 64);
    assert_true(account.durable(0, 64, 0));
    assert_true((account.model.operations().begin()->second.marks & kTooEarly) != 0);
}

void persisting_covers_whole_lines_and_no_more(void**) {
    Account account("adr");
    account.write(0, 256, 'a');
    account.model.message(kConnection);
    account.persist(100, 8);
    assert_true(account.durable(0, 64, 0) && account.durable(64, 64, 'a') &&
                account.durable(128, 128, 0));
    const Operation& left = account.model.operations().begin()->second;
    assert_true((left.marks & kPartlyDurable) != 0);
    account.persist(0, 256);
    assert_int_equal(account.at_risk(), 0);
}

void stores_of_the_cpu(void**) {
    Account account("adr");
    account.store(10, 20, 's');
    assert_true(account.model.persist_matters({0, 0, 64}));
    assert_false(account.model.persist_matters({0, 64, 128}));
    account.persist(12, 1);
    assert_true(account.durable(10, 20, 's'));
    assert_false(account.model.persist_matters({0, 0, 64}));
}

void a_line_of_both(void**) {
    Account account("adr");
    account.store(0, 32, 's');
    account.write(32, 32, 'w');
    account.persist(0, 64);
    assert_true(account.durable(0, 32, 's') && account.durable(32, 32, 0));
}

void native_flushes(void**) {
    Account account("adr,ddio=on");
    account.write(0, 256, 'a');
    assert_true(account.model.flush_matters(kConnection, {0, 64, 128}));
    assert_false(account.model.flush_matters(kConnection, {0, 256, 300}));
    account.model.flush(kConnection, {0, 64, 128}, true);
    assert_true(account.durable(64, 64, 'a') && account.durable(0, 64, 0) &&
                account.durable(128, 128, 0));
    account.model.flush(kConnection, {0, 0, 64}, false);
    assert_true(account.durable(0, 64, 0));
    account.persist(0, 256);  // only that part was visible
    assert_true(account.durable(0, 128, 'a') && account.durable(128, 128, 0));
    account.model.flush(kConnection, {0, 0, kSize}, true);
    assert_true(account.durable(0, 256, 'a'));
    assert_int_equal(account.at_risk(), 0);
}

void a_native_flush_takes_what_is_visible_already(void**) {
    for (const char* on : {"adr,ddio=on", "adr,ddio=off"}) {
        for (const bool by_message : {true, false}) {
            Account account(on);
            account.write(0, 64, 'a');
            if (by_message) {
                account.model.message(kConnection);
            } else {
                account.model.flush(kConnection, {0, 0, 64}, false);
            }
            assert_true(account.durable(0, 64, 0));
            assert_true(account.model.flush_matters(kConnection, {0, 0, 64}));
            account.model.flush(kConnection, {0, 0, 64}, true);
            assert_true(account.durable(0, 64, 'a'));
        }
    }
    Account account("adr,ddio=on");
    account.write(0, 64, 'a');
    account.model.read(kConnection);
    account.model.flush(kConnection, {0, 0, 64}, true);
    assert_true(account.durable(0, 64, 'a'));
}

void a_flush_of_a_part_takes_no_more_of_what_is_buried(void**) {
    Account account("adr");
    account.write(0, 32, 'a', 1);
    account.write(0, 32, 'b', 2);
    account.model.flush(1, {0, 0, 16}, true);
    assert_true(account.durable(0, 16, 'a') && account.durable(16, 16, 0));
}

void visibility_is_enough_where_caches_survive(void**) {
    Account account("eadr");
    account.write(0, 64, 'a');
    account.model.flush(kConnection, {0, 0, 64}, false);
    assert_true(account.durable(0, 64, 'a'));
}

void results_of_own_reads(void**) {
    Account account("adr,ddio=off");
    account.write(0, 64, 'r', 0, Kind::ReadResult);
    account.model.read(kConnection);
    assert_true(account.durable(0, 64, 0));
    account.persist(0, 64);
    assert_true(account.durable(0, 64, 'r'));
    Account eadr("eadr");
    eadr.write(0, 64, 'r', 0, Kind::ReadResult);
    assert_true(eadr.durable(0, 64, 'r'));
}

void an_ended_connection_is_flushed_by_no_other(void**) {
    Account account("adr,ddio=off");
    account.write(0, 64, 'a');
    account.model.connection_ends(kConnection);
    account.model.read(kConnection + 1);
    account.model.read(kConnection);  // a number may be used again
    assert_true(account.durable(0, 64, 0));
    account.persist(0, 64);
    assert_true(account.durable(0, 64, 'a'));
}

void overwriting_buries(void**) {
    Account account("adr,ddio=off");
    account.write(0, 128, 'a', 1);
    account.write(32, 64, 'b', 2);
    account.model.read(1);
    assert_true(account.durable(0, 128, 'a'));  // what the first one wrote, all of it
    account.model.read(2);
    assert_true(account.durable(32, 64, 'b') && account.durable(0, 32, 'a'));
    assert_int_equal(account.at_risk(), 0);
}

void the_newer_one_durable_first(void**) {
    Account account("adr,ddio=off");
    account.write(0, 64, 'a', 1);
    account.write(0, 64, 'b', 2);
    account.model.read(2);
    account.model.read(1);
    assert_true(account.durable(0, 64, 'b'));
    assert_int_equal(account.at_risk(), 0);
}

void the_cpu_persists_what_it_sees_below(void**) {
    Account account("adr");
    account.write(0, 64, 'a', 1);
    account.model.message(1);
    account.write(0, 64, 'b', 2);
    account.persist(0, 64);
    assert_true(account.durable(0, 64, 'a'));
}

void the_cpu_persists_all_that_it_sees_below(void**) {
    Account account("adr");
    account.write(0, 8, 'a', 1);
    account.write(8, 8, 'b', 1);
    account.model.message(1);
    account.write(0, 16, 'c', 2);
    account.persist(0, 16);
    assert_true(account.durable(0, 8, 'a') && account.durable(8, 8, 'b'));
}

void the_cpu_persists_its_stores_below(void**) {
    Account account("adr");
    account.store(0, 8, 's');
    account.write(0, 8, 'w');
    assert_true(account.survivors(0) ==
                (std::set<std::string>{std::string(8, '\0'), "ssssssss", "wwwwwwww"}));
    account.persist(0, 8);
    assert_true(account.survivors(0) == (std::set<std::string>{"ssssssss", "wwwwwwww"}));
}

void a_store_outlives_the_write_over_it_where_caches_survive(void**) {
    for (const char* on : {"eadr", "wsp"}) {
        Account account(on);
        account.store(0, 8, 's');
        account.start(0, 8, kConnection);
        account.fill(0, 4, 'w');
        assert_true(account.survivors(0) == std::set<std::string>{"ssssssss"});
    }
}

// Written back before it was there: the fence behind that does not help.
void flushed_too_early_then_drained(void**) {
    Account account("adr");
    account.write(0, 64, 'a');
    const std::uint64_t flushed = account.model.moment();
    account.model.mark_flushed({0, 0, 64});
    account.model.message(kConnection);
    account.model.persist({0, 0, 64}, flushed);
    assert_true(account.durable(0, 64, 0));
    const Operation& operation = account.model.operations().begin()->second;
    assert_string_equal(reason_of(&operation, 0, account.model).name, "persisted-too-early");
}

void flushed_then_drained(void**) {
    Account account("adr");
    account.write(0, 64, 'a');
    account.model.message(kConnection);
    const std::uint64_t flushed = account.model.moment();
    account.model.mark_flushed({0, 0, 64});
    account.write(64, 64, 'b');
    account.model.message(kConnection);
    account.model.persist({0, 0, 128}, flushed);
    assert_true(account.durable(0, 64, 'a') && account.durable(64, 64, 0));
}

void placing_that_fails(void**) {
    Account account("adr,ddio=off");
    Operation* const operation = account.start(0, 64, kConnection);
    account.model.end(operation, false);
    assert_int_equal(account.at_risk(), 0);
    account.model.read(kConnection);
    assert_true(account.durable(0, 64, 0));
}

// A compare and swap that does not swap: what was not durable is so still, and named.
void an_operation_that_changes_nothing(void**) {
    Account account("adr,ddio=off");
    account.write(0, 24, 'a');
    account.model.end(account.start(8, 8, kConnection + 1, Kind::CompareSwap), false);
    assert_int_equal(account.at_risk(), 1);
    assert_int_equal(account.model.usage().buried_lines, 0);
    for (const std::uint64_t at : {0U, 8U, 23U}) {
        const auto piece = account.model.area(0).first_behind(at);
        assert_true(piece != account.model.area(0).pieces.end() && piece->first <= at);
    }
    account.model.read(kConnection);
    assert_true(account.durable(0, 24, 'a'));
}

void an_overtaken_flush_is_taken_back(void**) {
    Account account("adr,ddio=off");
    account.write(0, 64, 'd');
    account.model.read(kConnection);
    assert_true(account.model.overtaking_matters(kConnection));
    account.write(64, 8, 'c');
    account.model.take_back(kConnection);
    assert_true(account.durable(0, 64, 0));
    assert_int_equal(account.at_risk(), 2);
    assert_false(account.model.overtaking_matters(kConnection));
    const auto data = account.survivors(0);
    assert_true(data.count("dddddddd") == 1 && data.count(std::string(8, '\0')) == 1);
}

void memory_is_bounded(void**) {
    Account account("adr", {.operations = 4, .buried_bytes = sizeof(Buried)});
    for (std::uint64_t i = 0; i < 10; ++i) {
        account.write(i * 64, 64, 'a');
    }
    assert_int_equal(account.at_risk(), 4);
    assert_int_equal(account.model.usage().operations_dropped, 6);
    assert_true(account.durable(0, 384, 'a') && account.durable(384, 256, 0));
    for (int i = 0; i < 10; ++i) {
        account.write(576, 128, static_cast<char>('b' + i));
    }
    assert_true(account.model.usage().buried_lines <= 1);
    assert_true(account.model.usage().versions_dropped > 0);
}

// Many operations at random places; at the end everything is durable and nothing is left.
void nothing_is_forgotten(void**) {
    Account account("adr,ddio=off");
    std::uint64_t state = 12345;
    const auto random = [&state](std::uint64_t below) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state >> 33U) % below;
    };
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t begin = random(kSize - 600);
        const auto connection = static_cast<std::uint32_t>(1 + random(3));
        switch (random(6)) {
            case 0:
                account.model.read(connection);
                break;
            case 1:
                account.model.message(connection);
                break;
            case 2:
                account.persist(begin, random(300));
                break;
            case 3:
                account.model.flush(connection, {0, begin, begin + 200}, random(2) == 0);
                break;
            default:
                account.write(begin, 1 + random(500), static_cast<char>(random(255)), connection);
        }
    }
    for (std::uint32_t connection = 1; connection <= 3; ++connection) {
        account.model.read(connection);
    }
    account.persist(0, kSize);
    assert_int_equal(account.at_risk(), 0);
    assert_true(account.memory == account.image);
    assert_int_equal(account.model.usage().buried_lines, 0);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(platforms_are_read),
        cmocka_unit_test(a_write_alone),
        cmocka_unit_test(a_read_behind_it),
        cmocka_unit_test(a_read_of_another_connection_is_none),
        cmocka_unit_test(a_read_does_not_cover_what_comes_later),
        cmocka_unit_test(a_message_makes_visible),
        cmocka_unit_test(without_ddio_a_read_behind_the_message_persists),
        cmocka_unit_test(persisting_what_is_not_visible_is_too_early),
        cmocka_unit_test(persisting_covers_whole_lines_and_no_more),
        cmocka_unit_test(stores_of_the_cpu),
        cmocka_unit_test(a_line_of_both),
        cmocka_unit_test(native_flushes),
        cmocka_unit_test(a_native_flush_takes_what_is_visible_already),
        cmocka_unit_test(a_flush_of_a_part_takes_no_more_of_what_is_buried),
        cmocka_unit_test(visibility_is_enough_where_caches_survive),
        cmocka_unit_test(results_of_own_reads),
        cmocka_unit_test(an_ended_connection_is_flushed_by_no_other),
        cmocka_unit_test(overwriting_buries),
        cmocka_unit_test(the_newer_one_durable_first),
        cmocka_unit_test(the_cpu_persists_what_it_sees_below),
        cmocka_unit_test(the_cpu_persists_all_that_it_sees_below),
        cmocka_unit_test(the_cpu_persists_its_stores_below),
        cmocka_unit_test(a_store_outlives_the_write_over_it_where_caches_survive),
        cmocka_unit_test(flushed_too_early_then_drained),
        cmocka_unit_test(flushed_then_drained),
        cmocka_unit_test(placing_that_fails),
        cmocka_unit_test(an_operation_that_changes_nothing),
        cmocka_unit_test(an_overtaken_flush_is_taken_back),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(nothing_is_forgotten),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
