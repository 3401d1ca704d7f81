// SPDX-License-Identifier: BSD-3-Clause
// The grammar of --faults, and the choice that the seed makes.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "cmocka.hpp"
#include "faults/choice.hpp"
#include "faults/spec.hpp"

using namespace fabric::faults;
using std::chrono::microseconds;

namespace {

Fault only(const char* text) {
    const Spec spec = parse_spec(text);
    if (!spec.complaint.empty())
        print_error("%s: %s\n", text, spec.complaint.c_str());
    assert_int_equal(spec.faults.size(), 1);
    return spec.faults.front();
}

void every_kind_has_its_name(void**) {
    for (std::size_t i = 0; i < kKinds; ++i) {
        const auto kind = static_cast<Kind>(i);
        const std::string value = kind == Kind::Delay ? "=1ms" : "";
        assert_true(only((name_of(kind) + value + "@7").c_str()).kind == kind);
    }
}

void when_it_happens(void**) {
    const Fault once = only("drop@100");
    assert_int_equal(once.when.first, 100);
    assert_false(once.when.onwards);
    const Fault onwards = only("refuse-mr@2+");
    assert_int_equal(onwards.when.first, 2);
    assert_true(onwards.when.onwards);
    assert_int_equal(only("drop@18446744073709551615").when.first, UINT64_MAX);
    assert_int_equal(only("drop@100%").when.share, kAll);
    assert_int_equal(only("drop@0.001%").when.share, 1);
    assert_int_equal(only("drop@12.5%").when.share, 12'500);
    assert_int_equal(only("drop@10%").when.first, 0);
}

void of_one_connection(void**) {
    const Fault fault = only("drop@2/100");
    assert_int_equal(fault.when.connection, 2);
    assert_int_equal(fault.when.first, 100);
    assert_int_equal(only("rnr@3/12.5%").when.share, 12'500);
    assert_true(chosen(fault.when, {1, 2, 0}, 100));
    assert_false(chosen(fault.when, {1, 1, 0}, 100));
    for (const char* const text : {"drop@/1", "drop@0/1", "drop@1/", "drop@1/2/3", "refuse-mr@1/2"})
        assert_false(parse_spec(text).complaint.empty());
}

void values(void**) {
    assert_true(only("delay=250us@1").delay == microseconds(250));
    assert_true(only("delay=5ms@10%").delay == microseconds(5'000));
    assert_true(only("delay=60s@1").delay == microseconds(60'000'000));
    assert_true(only("nak@1").answer == Answer::Operation);
    assert_true(only("nak=access@1").answer == Answer::Access);
    assert_true(only("nak=invalid@1").answer == Answer::Invalid);
    assert_int_equal(only("refuse-mr@1").error, ENOMEM);
    assert_int_equal(only("refuse-mr=EFAULT@1").error, EFAULT);
    assert_int_equal(only("refuse-qp=EOPNOTSUPP@1").error, EOPNOTSUPP);
}

void several_are_separated_by_commas(void**) {
    const Spec spec = parse_spec("drop@100,delay=5ms@10%,cut-write@3,refuse-mr@2,refuse-qp@1");
    assert_true(spec.complaint.empty());
    assert_int_equal(spec.faults.size(), 5);
    assert_true(spec.faults[2].kind == Kind::CutWrite);
}

void nonsense_is_named(void**) {
    const std::vector<const char*> wrong = {"",
                                            ",",
                                            "drop",
                                            "drop@",
                                            "drop@0",
                                            "drop@-1",
                                            "drop@+",
                                            "drop@1++",
                                            "drop@0+",
                                            "drop@1 ",
                                            " drop@1",
                                            "drop@1,",
                                            "drop@0%",
                                            "drop@101%",
                                            "drop@100.001%",
                                            "drop@1.%",
                                            "drop@1.2345%",
                                            "drop@.5%",
                                            "drop@%",
                                            "drop@1e3",
                                            "drop=1@1",
                                            "drop=@1",
                                            "DROP@1",
                                            "explode@1",
                                            "delay@1",
                                            "delay=@1",
                                            "delay=0ms@1",
                                            "delay=5@1",
                                            "delay=5m@1",
                                            "delay=61s@1",
                                            "delay=-1s@1",
                                            "delay=99999999999999999999s@1",
                                            "delay=5 ms@1",
                                            "nak=@1",
                                            "nak=busy@1",
                                            "rnr=1@1",
                                            "refuse-mr=@1",
                                            "refuse-mr=12@1",
                                            "refuse-mr=ENOTHING@1",
                                            "refuse-mr=enomem@1",
                                            "drop@1@2",
                                            "drop@18446744073709551616",
                                            "drop@1;drop@2"};
    for (const char* const text : wrong) {
        const Spec spec = parse_spec(text);
        if (spec.complaint.empty())
            print_error("'%s' was taken\n", text);
        assert_false(spec.complaint.empty());
        assert_true(spec.faults.empty());
    }
    assert_non_null(
        std::strstr(parse_spec("drop@1,explode@1").complaint.c_str(), "'explode@1' is none"));
}

void there_is_a_limit(void**) {
    std::string text = "drop@1";
    for (std::size_t i = 1; i < kMaxFaults; ++i)
        text += ",drop@1";
    assert_true(parse_spec(text).complaint.empty());
    assert_false(parse_spec(text + ",drop@1").complaint.empty());
}

void seeds(void**) {
    assert_int_equal(*parse_seed("0"), 0);
    assert_int_equal(*parse_seed("18446744073709551615"), UINT64_MAX);
    for (const char* const text : {"", "-1", "x", "1 ", "0x1", "18446744073709551616"})
        assert_false(parse_seed(text).has_value());
}

std::vector<bool> draw(const Counter& counter, std::uint32_t share, std::uint64_t counts) {
    std::vector<bool> out;
    for (std::uint64_t count = 1; count <= counts; ++count)
        out.push_back(chosen({.share = share}, counter, count));
    return out;
}

long share_of(const std::vector<bool>& drawn) {
    return std::count(drawn.begin(), drawn.end(), true);
}

void the_share_is_met(void**) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        assert_in_range(share_of(draw({seed, 1, 0}, kAll / 2, 10'000)), 4'700, 5'300);
        assert_in_range(share_of(draw({seed, 1, 0}, kAll / 10, 10'000)), 850, 1'150);
        assert_int_equal(share_of(draw({seed, 1, 0}, kAll, 1'000)), 1'000);
    }
}

void the_same_numbers_give_the_same_choice(void**) {
    const auto once = draw({5, 3, 1}, kAll / 2, 1'000);
    assert_true(draw({5, 3, 1}, kAll / 2, 1'000) == once);
    assert_false(draw({6, 3, 1}, kAll / 2, 1'000) == once);  // another seed
    assert_false(draw({5, 4, 1}, kAll / 2, 1'000) == once);  // another connection
    assert_false(draw({5, 3, 2}, kAll / 2, 1'000) == once);  // another fault
}

// A seed that somebody has written down means the same in every build and on every machine.
void the_choice_does_not_change(void**) {
    std::string first;
    for (const bool one : draw({1, 1, 0}, kAll / 2, 32))
        first += one ? '1' : '0';
    assert_string_equal(first.c_str(), "00010000000001011000010011011101");
}

void numbered_ones_do_not_depend_on_the_seed(void**) {
    for (const std::uint64_t seed : {1U, 2U}) {
        assert_false(chosen({.first = 3}, {seed, 1, 0}, 2));
        assert_true(chosen({.first = 3}, {seed, 1, 0}, 3));
        assert_false(chosen({.first = 3}, {seed, 1, 0}, 4));
        assert_true(chosen({.first = 3, .onwards = true}, {seed, 1, 0}, 4));
    }
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_its_name),
        cmocka_unit_test(when_it_happens),
        cmocka_unit_test(of_one_connection),
        cmocka_unit_test(values),
        cmocka_unit_test(several_are_separated_by_commas),
        cmocka_unit_test(nonsense_is_named),
        cmocka_unit_test(there_is_a_limit),
        cmocka_unit_test(seeds),
        cmocka_unit_test(the_share_is_met),
        cmocka_unit_test(the_same_numbers_give_the_same_choice),
        cmocka_unit_test(the_choice_does_not_change),
        cmocka_unit_test(numbered_ones_do_not_depend_on_the_seed),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
