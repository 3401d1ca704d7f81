// SPDX-License-Identifier: BSD-3-Clause
// What can be left after a power failure: everything that is allowed, and nothing else.
#include "accounts.hpp"

using namespace fabric::test;

namespace {

const std::string kOld(8, '\0');

class Losses final : public LossListener {
public:
    void lost(const Area&, const LostPiece& piece) override { pieces.push_back(piece); }
    void kept(const Area&, const LostPiece& piece) override { survivors.push_back(piece); }
    std::vector<LostPiece> pieces;
    std::vector<LostPiece> survivors;
};

void a_line_is_kept_or_lost(void**) {
    Account account("adr");
    account.write(0, 64, 'n');
    assert_true(account.survivors(0) == (std::set<std::string>{kOld, "nnnnnnnn"}));
}

void a_word_is_never_torn(void**) {
    Account account("adr");
    account.write(0, 8, 'a', kConnection, Kind::AtomicWrite);
    account.write(0, 8, 'b', kConnection, Kind::AtomicWrite);
    assert_true(account.survivors(0) == (std::set<std::string>{kOld, "aaaaaaaa", "bbbbbbbb"}));
}

void a_line_can_be_torn_between_words(void**) {
    Account account("adr");
    account.write(0, 64, 'n');
    const auto found = account.survivors(0, 16, 2000);
    assert_int_equal(found.size(), 4);
    assert_true(found.count("nnnnnnnn" + kOld) == 1 && found.count(kOld + "nnnnnnnn") == 1);
}

void a_word_that_is_partly_covered_is_not_torn_either(void**) {
    Account account("adr");
    account.write(0, 8, 'a', 1, Kind::AtomicWrite);
    account.write(0, 4, 'b', 2);
    assert_true(account.survivors(0, 8, 2000) ==
                (std::set<std::string>{kOld, "aaaaaaaa", "bbbbaaaa", "bbbb" + kOld.substr(4)}));
}

void lines_of_one_write_are_independent(void**) {
    Account account("adr");
    account.write(0, 128, 'n');
    std::set<std::string> found;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const Survival survival(account.model, seed);
        Survival::Line first{};
        Survival::Line second{};
        survival.line(0, 0, first, nullptr);
        survival.line(0, 1, second, nullptr);
        found.insert({static_cast<char>(first[0]), static_cast<char>(second[0])});
    }
    assert_int_equal(found.size(), 4);
}

void durable_bytes_stay(void**) {
    Account account("adr,ddio=off");
    account.write(0, 64, 'd');
    account.model.read(kConnection);
    assert_true(account.survivors(0) == (std::set<std::string>{"dddddddd"}));
    account.write(0, 64, 'n');
    assert_true(account.survivors(0) == (std::set<std::string>{"dddddddd", "nnnnnnnn"}));
}

void what_is_arriving_is_lost(void**) {
    Account account("adr");
    account.start(0, 64, kConnection);
    account.fill(0, 30, 'n');
    assert_true(account.survivors(0) == std::set<std::string>{kOld});
}

void stores_are_at_risk_on_adr_only(void**) {
    Account adr("adr");
    adr.store(0, 8, 's');
    assert_true(adr.survivors(0) == (std::set<std::string>{kOld, "ssssssss"}));
    for (const char* on : {"eadr", "wsp"}) {
        Account account(on);
        account.store(0, 8, 's');
        assert_true(account.survivors(0) == std::set<std::string>{"ssssssss"});
    }
}

void the_first_seeds(void**) {
    Account account("adr");
    account.write(0, 8, 'a');
    account.write(64, 8, 'b');
    const auto both = [&account](std::uint64_t seed) {
        const Survival survival(account.model, seed);
        Survival::Line line{};
        survival.line(0, 0, line, nullptr);
        const bool first = line[0] == std::byte{'a'};
        survival.line(0, 1, line, nullptr);
        return std::pair(first, line[0] == std::byte{'b'});
    };
    assert_true(both(0) == std::pair(false, false));
    assert_true(both(1) == std::pair(true, true));
    assert_true(both(2) == std::pair(false, true));
    assert_true(both(3) == std::pair(true, false));
}

void all_of_an_area(void**) {
    Account account("adr");
    account.write(100, 200, 'a');
    account.store(kSize - 1, 1, 's');
    assert_int_equal(Survival(account.model, 0).count_at_risk(100), 5);
    assert_int_equal(Survival(account.model, 0).count_at_risk(2), 2);
    Losses losses;
    Survival(account.model, 0).apply(0, &losses);
    assert_true(account.memory == account.image);
    assert_int_equal(losses.pieces.size(), 5);
    assert_int_equal(losses.pieces[0].begin, 100);
    assert_int_equal(losses.pieces[0].end, 128);
    assert_int_equal(losses.pieces[0].operation->number, 1);
    assert_null(losses.pieces[4].operation);
}

void keeping_everything_changes_nothing(void**) {
    Account account("adr");
    account.write(100, 200, 'a');
    account.write(150, 10, 'b');
    const auto before = account.memory;
    Losses losses;
    Survival(account.model, 1).apply(0, &losses);
    assert_true(account.memory == before);
    assert_int_equal(losses.pieces.size(), 0);
    assert_int_equal(losses.survivors.front().begin, 100);
    assert_int_equal(losses.survivors.back().end, 300);
}

void only_the_given_lines_lose(void**) {
    Account account("adr");
    account.write(0, 320, 'a');
    const LineSet lose = parse_lines("0:1-2,0:4").value();
    const std::vector<std::byte> before = account.memory;
    Losses losses;
    Survival(account.model, 0, &lose).apply(0, &losses);
    for (std::size_t i = 0; i < 320; ++i) {
        const bool lost = (i >= 64 && i < 192) || i >= 256;
        assert_true(account.memory[i] == (lost ? std::byte{0} : before[i]));
    }
    assert_int_equal(losses.pieces.size(), 3);
    assert_int_equal(losses.survivors.size(), 2);
}

// By the seed as ever: torn, too.
void in_the_given_lines_the_seed_chooses(void**) {
    Account account("adr");
    account.write(0, 128, 'a');
    const LineSet lose = parse_lines("0:1").value();
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Survival::Line first{};
        Survival::Line second{};
        Survival::Line expected{};
        Survival(account.model, seed, &lose).line(0, 0, first, nullptr);
        Survival(account.model, seed, &lose).line(0, 1, second, nullptr);
        Survival(account.model, seed).line(0, 1, expected, nullptr);
        assert_memory_equal(first.data(), account.memory.data(), kLine);
        assert_true(second == expected);
    }
}

void no_choice_keeps_what_is_arriving(void**) {
    Account account("adr");
    account.start(0, 64, kConnection);
    account.fill(0, 30, 'n');
    const LineSet nothing;
    Survival::Line line{};
    Survival(account.model, 0, &nothing).line(0, 0, line, nullptr);
    assert_true(line == Survival::Line{});
}

void lines_as_text(void**) {
    for (const char* text : {"", "0:0", "0:3-5", "0:1-2,0:4,1:0,1:7-18446744073709551615"}) {
        const auto lines = parse_lines(text);
        assert_true(lines.has_value());
        assert_string_equal(text_of(*lines).c_str(), text);
    }
    const LineSet lines = parse_lines("0:1-2,0:4,2:0").value();
    for (std::uint64_t line = 0; line < 6; ++line) {
        assert_int_equal(contains(lines, 0, line), line == 1 || line == 2 || line == 4);
        assert_false(contains(lines, 1, line));
        assert_int_equal(contains(lines, 2, line), line == 0);
    }
    for (const char* wrong :
         {"x", "0", "0:", "0:a", "0:1-", "0:2-1", "0:1,", ",0:1", "0:1 ", "-1:2", "0:2,0:1",
          "0:1-3,0:3", "1:0,0:9", "4294967296:1", "0:18446744073709551616"}) {
        assert_false(parse_lines(wrong).has_value());
    }
}

std::uint64_t state(const Account& account) {
    return Survival(account.model, 0).risk(1000).state;
}

void the_same_state_as_long_as_the_same_can_be_left(void**) {
    Account account("adr");
    std::set<std::uint64_t> states = {state(account)};
    account.write(0, 128, 'a');
    states.insert(state(account));
    account.model.read(kConnection);  // makes visible only
    states.insert(state(account));
    assert_int_equal(states.size(), 2);
    account.write(64, 8, 'b');
    states.insert(state(account));
    account.write(64, 8, 'b');  // what is at risk is the same twice, but one of it is the latest
    states.insert(state(account));
    account.store(1000, 1, 's');
    states.insert(state(account));
    account.persist(0, 64);
    states.insert(state(account));
    assert_int_equal(states.size(), 6);
}

void a_seed_says_it_all(void**) {
    Account one("adr");
    Account other("adr");
    for (Account* account : {&one, &other}) {
        account->write(0, 4096, 'a');
        account->write(1000, 500, 'b');
    }
    for (std::uint64_t seed = 4; seed < 20; ++seed) {
        const auto before = one.memory;
        Survival(one.model, seed).apply(0, nullptr);
        Survival(other.model, seed).apply(0, nullptr);
        assert_true(one.memory == other.memory);
        one.memory = before;
        std::copy(before.begin(), before.end(), other.memory.begin());
        one.model.area(0).memory = one.memory.data();
    }
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_kept_or_lost),
        cmocka_unit_test(a_word_is_never_torn),
        cmocka_unit_test(a_line_can_be_torn_between_words),
        cmocka_unit_test(a_word_that_is_partly_covered_is_not_torn_either),
        cmocka_unit_test(lines_of_one_write_are_independent),
        cmocka_unit_test(durable_bytes_stay),
        cmocka_unit_test(what_is_arriving_is_lost),
        cmocka_unit_test(stores_are_at_risk_on_adr_only),
        cmocka_unit_test(the_first_seeds),
        cmocka_unit_test(all_of_an_area),
        cmocka_unit_test(keeping_everything_changes_nothing),
        cmocka_unit_test(only_the_given_lines_lose),
        cmocka_unit_test(in_the_given_lines_the_seed_chooses),
        cmocka_unit_test(no_choice_keeps_what_is_arriving),
        cmocka_unit_test(lines_as_text),
        cmocka_unit_test(the_same_state_as_long_as_the_same_can_be_left),
        cmocka_unit_test(a_seed_says_it_all),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
