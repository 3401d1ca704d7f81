// SPDX-License-Identifier: BSD-3-Clause
// Every macro, enumerator, size and offset of the header, and the defaults, against the recorded
// table.
#include <cstddef>
#include <cstdlib>
#include <map>
#include <type_traits>

#include "harness.hpp"

namespace {

struct Value {
    const char* name;
    long value;
};

#define VALUE(name) \
    { #name, static_cast < long>(name) }

const Value kValues[] = {
    VALUE(LIBRPMA_H),
    VALUE(RPMA_W_WAIT_FOR_COMPLETION),
    VALUE(RPMA_E_UNKNOWN),
    VALUE(RPMA_E_NOSUPP),
    VALUE(RPMA_E_PROVIDER),
    VALUE(RPMA_E_NOMEM),
    VALUE(RPMA_E_INVAL),
    VALUE(RPMA_E_NO_COMPLETION),
    VALUE(RPMA_E_NO_EVENT),
    VALUE(RPMA_E_AGAIN),
    VALUE(RPMA_E_SHARED_CHANNEL),
    VALUE(RPMA_E_NOT_SHARED_CHNL),
    VALUE(RPMA_DEFAULT_TIMEOUT_MS),
    VALUE(RPMA_MR_USAGE_READ_SRC),
    VALUE(RPMA_MR_USAGE_READ_DST),
    VALUE(RPMA_MR_USAGE_WRITE_SRC),
    VALUE(RPMA_MR_USAGE_WRITE_DST),
    VALUE(RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY),
    VALUE(RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT),
    VALUE(RPMA_MR_USAGE_SEND),
    VALUE(RPMA_MR_USAGE_RECV),
    VALUE(RPMA_F_COMPLETION_ON_ERROR),
    VALUE(RPMA_F_COMPLETION_ALWAYS),
    VALUE(RPMA_ATOMIC_WRITE_ALIGNMENT),
    VALUE(RPMA_UTIL_IBV_CONTEXT_LOCAL),
    VALUE(RPMA_UTIL_IBV_CONTEXT_REMOTE),
    VALUE(RPMA_CONN_UNDEFINED),
    VALUE(RPMA_CONN_ESTABLISHED),
    VALUE(RPMA_CONN_CLOSED),
    VALUE(RPMA_CONN_LOST),
    VALUE(RPMA_CONN_REJECTED),
    VALUE(RPMA_CONN_UNREACHABLE),
    VALUE(RPMA_FLUSH_TYPE_PERSISTENT),
    VALUE(RPMA_FLUSH_TYPE_VISIBILITY),
    VALUE(RPMA_LOG_DISABLED),
    VALUE(RPMA_LOG_LEVEL_FATAL),
    VALUE(RPMA_LOG_LEVEL_ERROR),
    VALUE(RPMA_LOG_LEVEL_WARNING),
    VALUE(RPMA_LOG_LEVEL_NOTICE),
    VALUE(RPMA_LOG_LEVEL_INFO),
    VALUE(RPMA_LOG_LEVEL_DEBUG),
    VALUE(RPMA_LOG_THRESHOLD),
    VALUE(RPMA_LOG_THRESHOLD_AUX),
    VALUE(RPMA_LOG_THRESHOLD_MAX),
};

void macros_and_enumerators_have_their_values(void**) {
    std::map<std::string, long> ours;
    for (const Value& value : kValues) {
        ours[value.name] = value.value;
    }
    int compared = 0;
    for (const auto& row : harness::read_table("constants.tsv")) {
        const std::string& name = row[1];
        if ((row[0] != "macro" && row[0] != "enumerator") ||
            name == "RPMA_LOG_USE_DEFAULT_FUNCTION") {
            continue;
        }
        print_message("%s\n", name.c_str());
        assert_true(ours.count(name) == 1);
        assert_int_equal(ours[name], strtol(row[2].c_str(), nullptr, 0));
        ++compared;
    }
    assert_int_equal(compared, sizeof(kValues) / sizeof(kValues[0]));
    rpma_log_function* const none = RPMA_LOG_USE_DEFAULT_FUNCTION;
    assert_null(none);
}

template <typename Enum>
constexpr bool is_signed_enum = std::is_signed_v<std::underlying_type_t<Enum>>;

void types_have_their_layout(void**) {
    static_assert(sizeof(rpma_conn_private_data) == 16);
    static_assert(offsetof(rpma_conn_private_data, ptr) == 0);
    static_assert(offsetof(rpma_conn_private_data, len) == 8);
    static_assert(std::is_same_v<decltype(rpma_conn_private_data::len), uint8_t>);
    static_assert(sizeof(rpma_conn_event) == 4 && is_signed_enum<rpma_conn_event>);
    static_assert(sizeof(rpma_log_level) == 4 && is_signed_enum<rpma_log_level>);
    static_assert(sizeof(rpma_flush_type) == 4 && !is_signed_enum<rpma_flush_type>);
    static_assert(sizeof(rpma_log_threshold) == 4 && !is_signed_enum<rpma_log_threshold>);
    static_assert(sizeof(rpma_util_ibv_context_type) == 4 &&
                  !is_signed_enum<rpma_util_ibv_context_type>);
    assert_int_equal(sizeof(RPMA_E_UNKNOWN), 4);
}

void error_codes_have_their_texts(void**) {
    assert_string_equal(rpma_err_2str(0), "Success");
    assert_string_equal(rpma_err_2str(RPMA_E_UNKNOWN), "Unknown error");
    assert_string_equal(rpma_err_2str(RPMA_E_NOSUPP), "Not supported");
    assert_string_equal(rpma_err_2str(RPMA_E_PROVIDER), "Provider error occurred");
    assert_string_equal(rpma_err_2str(RPMA_E_NOMEM), "Out of memory");
    assert_string_equal(rpma_err_2str(RPMA_E_INVAL), "Invalid argument");
    assert_string_equal(rpma_err_2str(RPMA_E_NO_COMPLETION), "No next completion available");
    assert_string_equal(rpma_err_2str(RPMA_E_NO_EVENT), "No next event available");
    assert_string_equal(rpma_err_2str(RPMA_E_AGAIN), "Temporary error, try again");
    assert_string_equal(rpma_err_2str(RPMA_E_SHARED_CHANNEL), "Completion channel is shared");
    assert_string_equal(rpma_err_2str(RPMA_E_NOT_SHARED_CHNL), "Completion channel is not shared");
    for (const int unknown : {1, -1, -99999, -100010, INT32_MIN, INT32_MAX}) {
        assert_string_equal(rpma_err_2str(unknown), "Unknown error");
    }
}

void events_have_their_texts(void**) {
    const auto text = [](int event) {
        return rpma_utils_conn_event_2str(static_cast<rpma_conn_event>(event));
    };
    assert_string_equal(text(-1), "Undefined connection event");
    assert_string_equal(text(0), "Connection established");
    assert_string_equal(text(1), "Connection closed");
    assert_string_equal(text(2), "Connection lost");
    assert_string_equal(text(3), "Connection rejected");
    assert_string_equal(text(4), "Connection unreachable");
    assert_string_equal(text(5), "Unsupported connection event");
    assert_string_equal(text(-2), "Unsupported connection event");
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(macros_and_enumerators_have_their_values),
        TEST(types_have_their_layout),
        TEST(error_codes_have_their_texts),
        TEST(events_have_their_texts),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
