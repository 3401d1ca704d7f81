// SPDX-License-Identifier: BSD-3-Clause
#include "config.hpp"

#include <cstdlib>
#include <cstring>

#include "cmocka.hpp"

using fabric::LogLevel;
using fabric::parse_config;

static void defaults(void**) {
    const auto out = parse_config(nullptr, nullptr, nullptr, nullptr);
    assert_true(out.trace_file.empty());
    assert_int_equal(static_cast<int>(out.log_level), static_cast<int>(LogLevel::Warning));
    assert_true(out.log_file.empty());
    assert_int_equal(out.stream_mtu, fabric::kDefaultStreamMtu);
    assert_true(out.complaint.empty());
}

static void level_with_and_without_file(void**) {
    const auto plain = parse_config(nullptr, "debug", nullptr, nullptr);
    assert_int_equal(static_cast<int>(plain.log_level), static_cast<int>(LogLevel::Debug));
    const auto file = parse_config(nullptr, "error:/tmp/a:b", nullptr, nullptr);
    assert_int_equal(static_cast<int>(file.log_level), static_cast<int>(LogLevel::Error));
    assert_string_equal(file.log_file.c_str(), "/tmp/a:b");
}

static void native_operations(void**) {
    const auto known = parse_config(nullptr, nullptr, nullptr, nullptr);
    const auto none = parse_config(nullptr, nullptr, "none", nullptr);
    assert_false(none.native_flush);
    assert_false(none.native_atomic_write);
    assert_true(none.complaint.empty());
    const auto both = parse_config(nullptr, nullptr, "flush,atomic_write", nullptr);
    assert_int_equal(both.native_flush, known.native_flush);
    assert_int_equal(both.native_atomic_write, known.native_atomic_write);
    assert_int_equal(both.complaint.empty(), known.native_flush && known.native_atomic_write);
}

static void nonsense_is_named_and_the_default_stays(void**) {
    for (const char* mtu : {"", "abc", "128", "8388608", "1000", "4096x", "-4096"}) {
        const auto out = parse_config(nullptr, nullptr, nullptr, mtu);
        assert_int_equal(out.stream_mtu, fabric::kDefaultStreamMtu);
        assert_non_null(strstr(out.complaint.c_str(), "RPMA_FABRIC_MTU"));
    }
    assert_non_null(strstr(parse_config(nullptr, "loud", nullptr, nullptr).complaint.c_str(),
                           "RPMA_FABRIC_LOG"));
    assert_non_null(
        strstr(parse_config(nullptr, nullptr, "flush,rubbish", nullptr).complaint.c_str(),
               "RPMA_FABRIC_NATIVE"));
}

static void packet_sizes(void**) {
    for (const char* mtu : {"256", "32768", "4194304"})
        assert_int_equal(parse_config(nullptr, nullptr, nullptr, mtu).stream_mtu, atoi(mtu));
}

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(level_with_and_without_file),
        cmocka_unit_test(native_operations),
        cmocka_unit_test(nonsense_is_named_and_the_default_stays),
        cmocka_unit_test(packet_sizes),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
