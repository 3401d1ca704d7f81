// SPDX-License-Identifier: BSD-3-Clause
// All entry points, all that they refuse or fail with: the code, one line that names the function,
// outputs untouched, and what is deleted or consumed all the same is gone. And that nothing is
// missing here: neither a pointer or a code of the header, nor a code that upstream documents.
#include <algorithm>
#include <map>

#include "cases.hpp"
#include "header_facts.hpp"

namespace {

using entry_points::Case;
using entry_points::Doomed;
using entry_points::Function;
using entry_points::kBadArguments;
using entry_points::kFailures;
using entry_points::Objects;
using entry_points::Outputs;

const std::map<std::string, int> kCodes = {
    {"RPMA_E_UNKNOWN", RPMA_E_UNKNOWN},
    {"RPMA_E_NOSUPP", RPMA_E_NOSUPP},
    {"RPMA_E_PROVIDER", RPMA_E_PROVIDER},
    {"RPMA_E_NOMEM", RPMA_E_NOMEM},
    {"RPMA_E_INVAL", RPMA_E_INVAL},
    {"RPMA_E_NO_COMPLETION", RPMA_E_NO_COMPLETION},
    {"RPMA_E_NO_EVENT", RPMA_E_NO_EVENT},
    {"RPMA_E_AGAIN", RPMA_E_AGAIN},
    {"RPMA_E_SHARED_CHANNEL", RPMA_E_SHARED_CHANNEL},
    {"RPMA_E_NOT_SHARED_CHNL", RPMA_E_NOT_SHARED_CHNL},
};

void run(const Case& entry, Objects& objects) {
    print_message("%s, %d, %s\n", entry.function, entry.code,
                  entry.part != nullptr ? entry.part : "no line");
    Outputs outputs;
    Doomed doomed;
    entry.prepare(objects, doomed);
    harness::lines.clear();
    assert_int_equal(entry.call(objects, outputs, doomed), entry.code);
    if (entry.part != nullptr) {
        harness::expect_failure_line(entry.function, entry.part);
    } else {
        assert_int_equal(harness::lines.size(), 0);
    }
    assert_true(outputs.same());
    assert_true(doomed.gone());
    fake::world.post_result = fake::world.poll_result = 0;
    fake::world.wildcard = false;
}

void bad_arguments_are_refused(void**) {
    Objects objects;
    for (const Case& entry : kBadArguments) {
        const std::size_t calls = fake::world.calls.size();
        run(entry, objects);
        assert_int_equal(fake::world.calls.size(), calls);  // nothing reached rdma-core
    }
}

/// Each leaves the objects it was given as they were, so that the next ones can use them.
void failures_have_their_codes_and_causes(void**) {
    Objects objects;
    for (const Case& entry : kFailures) {
        run(entry, objects);
    }
}

void null_objects_are_no_error_to_delete(void**) {
    rpma_peer* peer = nullptr;
    rpma_peer_cfg* pcfg = nullptr;
    rpma_mr_local* local = nullptr;
    rpma_mr_remote* remote = nullptr;
    rpma_conn_cfg* cfg = nullptr;
    rpma_srq_cfg* srq_cfg = nullptr;
    rpma_srq* srq = nullptr;
    rpma_ep* ep = nullptr;
    rpma_conn_req* req = nullptr;
    rpma_conn* conn = nullptr;
    EXPECT_OK(rpma_peer_delete(&peer));
    EXPECT_OK(rpma_peer_cfg_delete(&pcfg));
    EXPECT_OK(rpma_mr_dereg(&local));
    EXPECT_OK(rpma_mr_remote_delete(&remote));
    EXPECT_OK(rpma_conn_cfg_delete(&cfg));
    EXPECT_OK(rpma_srq_cfg_delete(&srq_cfg));
    EXPECT_OK(rpma_srq_delete(&srq));
    EXPECT_OK(rpma_ep_shutdown(&ep));
    EXPECT_OK(rpma_conn_req_delete(&req));
    EXPECT_OK(rpma_conn_delete(&conn));
    assert_int_equal(harness::lines.size(), 0);
}

using Pairs = std::set<std::pair<std::string, std::string>>;  ///< function, code

void expect_same(const Pairs& left, const char* left_name, const Pairs& right,
                 const char* right_name) {
    int different = 0;
    for (const auto& [function, code] : left) {
        if (right.count({function, code}) == 0) {
            print_error("%s %s: in %s, not in %s\n", function.c_str(), code.c_str(), left_name,
                        right_name);
            ++different;
        }
    }
    for (const auto& [function, code] : right) {
        if (left.count({function, code}) == 0) {
            print_error("%s %s: in %s, not in %s\n", function.c_str(), code.c_str(), right_name,
                        left_name);
            ++different;
        }
    }
    assert_int_equal(different, 0);
}

Pairs tested() {
    Pairs pairs;
    for (const auto* table : {&kBadArguments, &kFailures}) {
        for (const Case& entry : *table) {
            const auto code = std::find_if(kCodes.begin(), kCodes.end(), [&](const auto& known) {
                return known.second == entry.code;
            });
            pairs.insert({entry.function, code->first});
        }
    }
    return pairs;
}

void every_documented_code_is_tested_and_no_other(void**) {
    Pairs documented;
    const std::vector<Function> functions = entry_points::read_header(HEADER);
    assert_int_equal(functions.size(), 84);
    for (const Function& function : functions) {
        for (const std::string& code : function.errors) {
            if (function.never.count(code) == 0) {
                documented.insert({function.name, code});
            }
        }
    }
    assert_true(documented.size() > 120);
    expect_same(documented, "librpma.h", tested(), "these tests");
}

/// errors.tsv: function, code, how upstream has it, whether it is returned here, cause.
void every_code_of_upstream_is_tested_or_never_returned(void**) {
    Pairs table;
    Pairs never;
    for (const auto& row : harness::read_table("errors.tsv")) {
        assert_int_equal(row.size(), 5);
        (row[3] == "yes" ? table : never).insert({row[0], row[1]});
    }
    expect_same(table, "errors.tsv", tested(), "these tests");
    for (const auto& pair : never) {
        print_message("%s never returns %s\n", pair.first.c_str(), pair.second.c_str());
        assert_int_equal(tested().count(pair), 0);
    }
    assert_int_equal(never.size(), 4);
}

void every_pointer_is_tested_with_null(void**) {
    Pairs refused;
    for (const Case& entry : kBadArguments) {
        refused.insert({entry.function, entry.part});
    }
    int pointers = 0;
    int missing = 0;
    for (const Function& function : entry_points::read_header(HEADER)) {
        for (const std::string& pointer : function.pointers) {
            ++pointers;
            const bool elsewhere = function.name == "rpma_conn_req_connect";  // consumes: kFailures
            if (refused.count({function.name, pointer}) == 0 && !elsewhere) {
                print_error("%s: no case with NULL for %s\n", function.name.c_str(),
                            pointer.c_str());
                ++missing;
            }
        }
    }
    assert_int_equal(missing, 0);
    assert_true(pointers > 120);
}

/// What takes an object away from its other users is exclusive, all else is safe.
void every_function_says_what_threads_may_do(void**) {
    for (const Function& function : entry_points::read_header(HEADER)) {
        const auto ends_with = [&](const std::string& end) {
            return function.name.size() >= end.size() &&
                   function.name.compare(function.name.size() - end.size(), end.size(), end) == 0;
        };
        const bool takes_away = ends_with("_delete") || ends_with("_dereg") ||
                                ends_with("_shutdown") || ends_with("_req_connect");
        print_message("%s\n", function.name.c_str());
        assert_string_equal(function.threads.c_str(), takes_away ? "exclusive" : "safe");
    }
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(bad_arguments_are_refused),
        TEST(failures_have_their_codes_and_causes),
        TEST(null_objects_are_no_error_to_delete),
        TEST(every_documented_code_is_tested_and_no_other),
        TEST(every_code_of_upstream_is_tested_or_never_returned),
        TEST(every_pointer_is_tested_with_null),
        TEST(every_function_says_what_threads_may_do),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
