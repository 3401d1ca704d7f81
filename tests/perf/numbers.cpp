// SPDX-License-Identifier: BSD-3-Clause
// rpma-perf: sizes, histogram, statistics, patterns, plans.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>

#include "../unit/support/cmocka.hpp"
#include "error.hpp"
#include "histogram.hpp"
#include "pattern.hpp"
#include "plan.hpp"
#include "statistics.hpp"
#include "units.hpp"

namespace {

using perf::Histogram;

// The message of the Error that `call` throws; empty if it throws none.
template <typename Call>
std::string refusal(Call call) {
    try {
        (void)call();
    } catch (const perf::Error& error) {
        return error.what();
    }
    return {};
}

bool within(double value, double exact, double share) {
    return std::abs(value - exact) <= exact * share;
}

void sizes_have_units(void**) {
    assert_int_equal(perf::parse_size("0"), 0);
    assert_int_equal(perf::parse_size("4096"), 4096);
    assert_int_equal(perf::parse_size("4K"), 4096);
    assert_int_equal(perf::parse_size("4k"), 4096);
    assert_int_equal(perf::parse_size("4KiB"), 4096);
    assert_int_equal(perf::parse_size("3MB"), 3 << 20);
    assert_int_equal(perf::parse_size("1G"), 1 << 30);
}

void what_is_no_size_is_refused(void**) {
    for (const char* text : {"", "K", "-1", "4X", "4KK", "4 K", "1.5K", "0x10", "+3", "4KiBs"}) {
        assert_true(refusal([&] { return perf::parse_size(text); }).find("is not a number") !=
                    std::string::npos);
    }
    assert_true(refusal([] { return perf::parse_size("99999999999G"); }).find("too large") !=
                std::string::npos);
    assert_true(!refusal([] { return perf::parse_size("99999999999999999999"); }).empty());
}

void lists_and_ranges(void**) {
    using List = std::vector<std::uint64_t>;
    assert_true(perf::parse_sizes("x", "4K,64,64") == (List{64, 4096}));
    assert_true(perf::parse_sizes("x", "1-9") == (List{1, 2, 4, 8, 9}));
    assert_true(perf::parse_sizes("x", "1K-64K:4") == (List{1024, 4096, 16384, 65536}));
    assert_true(perf::parse_sizes("x", "7-7,1") == (List{1, 7}));
    for (const char* text : {"8-4", "0-4", "1-8:1", "1-8:0", ",", "1,", "1--2", "a-b"}) {
        assert_true(
            refusal([&] { return perf::parse_sizes("--size", text); }).starts_with("--size: "));
    }
    // At the end of the numbers.
    const List top = perf::parse_sizes("x", "9223372036854775808-18446744073709551615");
    assert_true(top == (List{9223372036854775808U, 18446744073709551615U}));
}

void numbers_are_written_for_people(void**) {
    assert_string_equal(perf::format_size(64).c_str(), "64 B");
    assert_string_equal(perf::format_size(1536).c_str(), "1.5 KiB");
    assert_string_equal(perf::format_size(1 << 20).c_str(), "1 MiB");
    assert_string_equal(perf::format_latency(1234).c_str(), "1.234");
    assert_string_equal(perf::format_rate(123456).c_str(), "123 k");
    assert_string_equal(perf::format_bandwidth(1.5e9).c_str(), "1500");
}

void an_empty_histogram_is_zero(void**) {
    const Histogram histogram;
    assert_int_equal(histogram.count(), 0);
    assert_int_equal(histogram.min(), 0);
    assert_int_equal(histogram.max(), 0);
    assert_int_equal(histogram.percentile(50), 0);
    assert_true(histogram.buckets().empty());
}

// Every value, alone in a histogram beside a smaller and a larger one, comes back to within 1 %.
void buckets_are_within_one_percent(void**) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 1000; i++) {
        const std::uint64_t value = random() >> (random() % 64);
        Histogram histogram;
        histogram.record(0);
        histogram.record(value);
        histogram.record(~std::uint64_t{0});
        assert_true(within(static_cast<double>(histogram.percentile(50)),
                           static_cast<double>(value), 0.01));
    }
    Histogram all;
    for (unsigned bit = 0; bit < 64; bit++) {
        for (const std::uint64_t off : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
            const std::uint64_t value = (std::uint64_t{1} << bit) + off;
            Histogram one;
            one.record(value);
            const auto bucket = one.buckets().at(0);
            assert_true(
                within(static_cast<double>(bucket.value), static_cast<double>(value), 0.01));
            all.record(value);
        }
    }
    assert_int_equal(all.count(), 192);
    assert_int_equal(all.max(), (std::uint64_t{1} << 63) + 1);
}

void small_values_are_exact(void**) {
    Histogram histogram;
    for (std::uint64_t value = 0; value < 256; value++) {
        histogram.record(value);
    }
    assert_int_equal(histogram.buckets().size(), 256);
    assert_int_equal(histogram.percentile(50), 127);
    assert_int_equal(histogram.percentile(100), 255);
    assert_int_equal(histogram.percentile(0), 0);
    assert_true(within(histogram.mean(), 127.5, 1e-9));
}

// Against the sorted values themselves.
void percentiles_are_within_one_percent(void**) {
    std::mt19937_64 random(1);
    std::lognormal_distribution<double> latencies(10, 2);
    std::vector<std::uint64_t> values(100000);
    Histogram histogram;
    for (auto& value : values) {
        value = static_cast<std::uint64_t>(latencies(random));
        histogram.record(value);
    }
    std::sort(values.begin(), values.end());
    for (const double percent : {1.0, 10.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
        const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * 100000)) - 1;
        assert_true(within(static_cast<double>(histogram.percentile(percent)),
                           static_cast<double>(values[rank]), 0.01));
    }
    assert_int_equal(histogram.min(), values.front());
    assert_int_equal(histogram.max(), values.back());
}

void histograms_merge_and_clear(void**) {
    Histogram left;
    Histogram right;
    left.record(10, 3);
    right.record(1'000'000);
    left.merge(right);
    assert_int_equal(left.count(), 4);
    assert_int_equal(left.min(), 10);
    assert_int_equal(left.max(), 1'000'000);
    assert_int_equal(left.percentile(75), 10);
    left.clear();
    assert_int_equal(left.count(), 0);
    left.merge(right);
    assert_int_equal(left.min(), 1'000'000);
}

void medians(void**) {
    assert_true(perf::median({}) == 0);
    assert_true(perf::median({3}) == 3);
    assert_true(perf::median({9, 1, 5}) == 5);
    assert_true(perf::median({4, 1, 3, 2}) == 2.5);
}

void differences_beyond_the_noise_are_told(void**) {
    const perf::Ratio clear = perf::compare_runs({100, 101, 99}, {120, 121, 119});
    assert_true(within(clear.value, 1.2, 0.001) && clear.exceeds_noise());
    assert_true(perf::compare_runs({120, 121, 119}, {100, 101, 99}).exceeds_noise());
    const perf::Ratio scattered = perf::compare_runs({100, 130, 80}, {120, 150, 95});
    assert_true(scattered.noise_is_known && !scattered.exceeds_noise());
    const perf::Ratio same = perf::compare_runs({100, 100}, {100, 100});
    assert_true(same.value == 1 && !same.exceeds_noise());
}

void one_run_tells_no_noise(void**) {
    const perf::Ratio ratio = perf::compare_runs({100}, {200});
    assert_true(within(ratio.value, 2, 1e-9) && !ratio.noise_is_known && !ratio.exceeds_noise());
    assert_true(perf::compare_runs({}, {1}).value == 0);
    assert_true(perf::compare_runs({0, 1}, {1, 1}).value == 0);
}

// Against a table: 2 and 2 degrees of freedom, equal variances, so t(4) = 2.776.
void the_margin_is_welchs(void**) {
    const double step = std::exp(0.01);
    const perf::Ratio ratio = perf::compare_runs({1 / step, 1, step}, {1 / step, 1, step});
    assert_true(within(ratio.margin, std::expm1(2.776 * std::sqrt(2 * 0.0001 / 3)), 1e-3));
}

void every_wrong_byte_is_counted(void**) {
    for (const std::size_t size : {1U, 7U, 8U, 9U, 64U, 1001U}) {
        std::vector<char> data(size);
        perf::fill_pattern(data.data(), size, 42);
        assert_int_equal(perf::count_mismatches(data.data(), size, 42), 0);
        for (std::size_t at = 0; at < size; at++) {
            data[at] = static_cast<char>(data[at] ^ 1);
            assert_int_equal(perf::count_mismatches(data.data(), size, 42), 1);
            data[at] = static_cast<char>(data[at] ^ 1);
        }
        std::vector<char> other(size);
        perf::fill_pattern(other.data(), size, 43);
        assert_true(perf::count_mismatches(other.data(), size, 42) > size / 2);
    }
}

void patterns_tell_where_they_belong(void**) {
    std::set<std::uint64_t> seeds;
    for (std::uint64_t i = 0; i < 1000; i++) {
        seeds.insert({perf::pattern_seed(i, 0, 0), perf::pattern_seed(0, i + 1000, 0),
                      perf::pattern_seed(0, 0, i + 1000)});
    }
    assert_int_equal(seeds.size(), 3000);
}

perf::PlanOptions some_plan() {
    perf::PlanOptions options;
    options.apis = {perf::Api::rpma, perf::Api::verbs};
    options.ops = {perf::Op::write, perf::Op::flush};
    options.flushes = {perf::FlushType::visibility, perf::FlushType::persistent};
    options.sizes = {8, 64};
    options.depths = {1, 16};
    options.batches = {1, 4};
    options.connections = {1};
    return options;
}

// A flush of either kind, a write of neither; batch 4 at depth 16 only.
void plans_hold_each_combination_once(void**) {
    const auto plan = perf::make_plan(some_plan());
    assert_int_equal(plan.size(), (1 + 2) * 3 * 2 * 2);
    assert_true(plan[0].api == perf::Api::rpma && plan[1].api == perf::Api::verbs);
    assert_int_equal(plan[0].size, plan[1].size);
}

void impossible_plans_are_refused(void**) {
    const auto refuse = [](auto change) {
        perf::PlanOptions options = some_plan();
        change(options);
        return !refusal([&] { return perf::make_plan(options); }).empty();
    };
    assert_true(refuse([](auto& o) { o.sizes = {0}; }));
    assert_true(refuse([](auto& o) { o.sizes = {perf::kMaxSize + 1}; }));
    assert_true(refuse([](auto& o) { o.depths = {0}; }));
    assert_true(refuse([](auto& o) { o.depths = {std::uint64_t{1} << 32}; }));
    assert_true(refuse([](auto& o) { o.batches = {0}; }));
    assert_true(refuse([](auto& o) {
        o.batches = {3};
        o.depths = {16};
    }));
    assert_true(refuse([](auto& o) { o.batches = {32}; }));
    assert_true(refuse([](auto& o) { o.threads = 2; }));
    assert_true(refuse([](auto& o) { o.threads = 0; }));
    assert_true(refuse([](auto& o) { o.connections = {perf::kMaxConnections + 1}; }));
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(sizes_have_units),
        cmocka_unit_test(what_is_no_size_is_refused),
        cmocka_unit_test(lists_and_ranges),
        cmocka_unit_test(numbers_are_written_for_people),
        cmocka_unit_test(an_empty_histogram_is_zero),
        cmocka_unit_test(buckets_are_within_one_percent),
        cmocka_unit_test(small_values_are_exact),
        cmocka_unit_test(percentiles_are_within_one_percent),
        cmocka_unit_test(histograms_merge_and_clear),
        cmocka_unit_test(medians),
        cmocka_unit_test(differences_beyond_the_noise_are_told),
        cmocka_unit_test(one_run_tells_no_noise),
        cmocka_unit_test(the_margin_is_welchs),
        cmocka_unit_test(every_wrong_byte_is_counted),
        cmocka_unit_test(patterns_tell_where_they_belong),
        cmocka_unit_test(plans_hold_each_combination_once),
        cmocka_unit_test(impossible_plans_are_refused),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
