// SPDX-License-Identifier: BSD-3-Clause
// The three configuration objects: defaults, setters, descriptors, memory running out.
#include "harness.hpp"

namespace {

using Setter = int (*)(rpma_conn_cfg*, uint32_t);
using Getter = int (*)(const rpma_conn_cfg*, uint32_t*);

struct Size {
    Setter set;
    Getter get;
    uint32_t initial;
};

const Size kSizes[] = {
    {rpma_conn_cfg_set_cq_size, rpma_conn_cfg_get_cq_size, 10},
    {rpma_conn_cfg_set_rcq_size, rpma_conn_cfg_get_rcq_size, 0},
    {rpma_conn_cfg_set_sq_size, rpma_conn_cfg_get_sq_size, 10},
    {rpma_conn_cfg_set_rq_size, rpma_conn_cfg_get_rq_size, 10},
};

void conn_cfg_has_defaults(void**) {
    rpma_conn_cfg* cfg = nullptr;
    EXPECT_OK(rpma_conn_cfg_new(&cfg));
    int timeout = 0;
    EXPECT_OK(rpma_conn_cfg_get_timeout(cfg, &timeout));
    assert_int_equal(timeout, 1000);
    bool shared = true;
    EXPECT_OK(rpma_conn_cfg_get_compl_channel(cfg, &shared));
    assert_false(shared);
    rpma_srq* srq = harness::untouched<rpma_srq>();
    EXPECT_OK(rpma_conn_cfg_get_srq(cfg, &srq));
    assert_null(srq);
    for (const Size& size : kSizes) {
        uint32_t value = 77;
        EXPECT_OK(size.get(cfg, &value));
        assert_int_equal(value, size.initial);
    }
    EXPECT_OK(rpma_conn_cfg_delete(&cfg));
    assert_null(cfg);
}

void conn_cfg_keeps_what_is_set(void**) {
    rpma_conn_cfg* cfg = nullptr;
    EXPECT_OK(rpma_conn_cfg_new(&cfg));
    uint32_t number = 20;
    for (const Size& size : kSizes) {
        EXPECT_OK(size.set(cfg, ++number));
    }
    number = 20;
    for (const Size& size : kSizes) {
        uint32_t value = 0;
        EXPECT_OK(size.get(cfg, &value));
        assert_int_equal(value, ++number);
    }
    for (const Size& size : kSizes) {
        for (const uint32_t limit : {UINT32_C(0), UINT32_MAX}) {
            uint32_t value = 1;
            EXPECT_OK(size.set(cfg, limit));
            EXPECT_OK(size.get(cfg, &value));
            assert_int_equal(value, limit);
        }
    }
    for (const int timeout : {0, 5, INT32_MAX}) {
        int value = -1;
        EXPECT_OK(rpma_conn_cfg_set_timeout(cfg, timeout));
        EXPECT_OK(rpma_conn_cfg_get_timeout(cfg, &value));
        assert_int_equal(value, timeout);
    }
    bool shared = false;
    EXPECT_OK(rpma_conn_cfg_set_compl_channel(cfg, true));
    EXPECT_OK(rpma_conn_cfg_get_compl_channel(cfg, &shared));
    assert_true(shared);
    EXPECT_OK(rpma_conn_cfg_delete(&cfg));
}

void conn_cfg_keeps_the_shared_rq_alive(void**) {
    harness::capture(RPMA_LOG_LEVEL_WARNING);
    rpma_peer* peer = harness::make_peer();
    rpma_srq* srq = nullptr;
    EXPECT_OK(rpma_srq_new(peer, nullptr, &srq));
    rpma_srq* other = nullptr;
    EXPECT_OK(rpma_srq_new(peer, nullptr, &other));
    rpma_conn_cfg* cfg = nullptr;
    EXPECT_OK(rpma_conn_cfg_new(&cfg));
    EXPECT_OK(rpma_conn_cfg_set_srq(cfg, srq));
    rpma_srq* got = nullptr;
    EXPECT_OK(rpma_conn_cfg_get_srq(cfg, &got));
    assert_ptr_equal(got, srq);
    EXPECT_OK(rpma_srq_delete(&srq));
    assert_int_equal(fake::world.live["srq"], 2);
    fake::world.fail("ibv_destroy_srq", 1, EIO);
    EXPECT_OK(rpma_conn_cfg_set_srq(cfg, other));  // the first one goes now, and how is told
    assert_int_equal(harness::lines.size(), 1);
    assert_int_equal(harness::lines[0].level, RPMA_LOG_LEVEL_WARNING);
    assert_true(harness::lines[0].text.find("ibv_destroy_srq") != std::string::npos);
    assert_int_equal(fake::world.live["srq"], 1);
    EXPECT_OK(rpma_srq_delete(&other));
    EXPECT_OK(rpma_peer_delete(&peer));
    EXPECT_OK(rpma_conn_cfg_delete(&cfg));
}

void srq_cfg_has_defaults_and_keeps_what_is_set(void**) {
    rpma_srq_cfg* cfg = nullptr;
    EXPECT_OK(rpma_srq_cfg_new(&cfg));
    uint32_t value = 0;
    EXPECT_OK(rpma_srq_cfg_get_rq_size(cfg, &value));
    assert_int_equal(value, 20);
    EXPECT_OK(rpma_srq_cfg_get_rcq_size(cfg, &value));
    assert_int_equal(value, 20);
    EXPECT_OK(rpma_srq_cfg_set_rq_size(cfg, UINT32_MAX));
    EXPECT_OK(rpma_srq_cfg_set_rcq_size(cfg, 3));
    EXPECT_OK(rpma_srq_cfg_get_rq_size(cfg, &value));
    assert_int_equal(value, UINT32_MAX);
    EXPECT_OK(rpma_srq_cfg_get_rcq_size(cfg, &value));
    assert_int_equal(value, 3);
    EXPECT_OK(rpma_srq_cfg_delete(&cfg));
    assert_null(cfg);
}

void peer_cfg_descriptors_equal_the_recorded_ones(void**) {
    for (const auto& row : harness::read_table("peer_cfg_descriptors.tsv")) {
        rpma_peer_cfg* cfg = nullptr;
        EXPECT_OK(rpma_peer_cfg_new(&cfg));
        if (row[0] == "true" || row[0] == "false") {
            EXPECT_OK(rpma_peer_cfg_set_direct_write_to_pmem(cfg, row[0] == "true"));
        }
        size_t size = 0;
        EXPECT_OK(rpma_peer_cfg_get_descriptor_size(cfg, &size));
        assert_string_equal(std::to_string(size).c_str(), row[1].c_str());
        unsigned char bytes[2] = {0x5a, 0x5a};
        EXPECT_OK(rpma_peer_cfg_get_descriptor(cfg, bytes));
        assert_string_equal(harness::to_hex(bytes, 1).c_str(), row[2].c_str());
        assert_int_equal(bytes[1], 0x5a);
        EXPECT_OK(rpma_peer_cfg_delete(&cfg));
    }
}

void peer_cfg_descriptors_are_read_as_recorded(void**) {
    int rows = 0;
    for (const auto& row : harness::read_table("peer_cfg_decode.tsv")) {
        const auto bytes = harness::from_hex(row[0]);
        rpma_peer_cfg* cfg = harness::untouched<rpma_peer_cfg>();
        unsigned char none = 0;
        const int ret =
            rpma_peer_cfg_from_descriptor(bytes.empty() ? &none : bytes.data(), bytes.size(), &cfg);
        assert_int_equal(ret, std::stoi(row[2]));
        ++rows;
        if (ret != 0) {
            assert_ptr_equal(cfg, harness::untouched<rpma_peer_cfg>());
            continue;
        }
        bool direct = false;
        EXPECT_OK(rpma_peer_cfg_get_direct_write_to_pmem(cfg, &direct));
        assert_string_equal(direct ? "true" : "false", row[4].c_str());
        unsigned char again = 0x5a;
        EXPECT_OK(rpma_peer_cfg_get_descriptor(cfg, &again));
        assert_string_equal(harness::to_hex(&again, 1).c_str(), row[5].c_str());
        EXPECT_OK(rpma_peer_cfg_delete(&cfg));
        assert_null(cfg);
    }
    assert_int_equal(rows, 9);
}

void memory_can_run_out(void**) {
    rpma_conn_cfg* conn_cfg = harness::untouched<rpma_conn_cfg>();
    harness::fail_allocation(1);
    EXPECT_FAILS(RPMA_E_NOMEM, rpma_conn_cfg_new(&conn_cfg), "out of memory");
    assert_ptr_equal(conn_cfg, harness::untouched<rpma_conn_cfg>());
    rpma_srq_cfg* srq_cfg = harness::untouched<rpma_srq_cfg>();
    harness::fail_allocation(1);
    EXPECT_FAILS(RPMA_E_NOMEM, rpma_srq_cfg_new(&srq_cfg), "out of memory");
    assert_ptr_equal(srq_cfg, harness::untouched<rpma_srq_cfg>());
    rpma_peer_cfg* peer_cfg = harness::untouched<rpma_peer_cfg>();
    harness::fail_allocation(1);
    EXPECT_FAILS(RPMA_E_NOMEM, rpma_peer_cfg_new(&peer_cfg), "out of memory");
    harness::fail_allocation(1);
    EXPECT_FAILS(RPMA_E_NOMEM, rpma_peer_cfg_from_descriptor("\1", 1, &peer_cfg), "out of memory");
    assert_ptr_equal(peer_cfg, harness::untouched<rpma_peer_cfg>());
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(conn_cfg_has_defaults),
        TEST(conn_cfg_keeps_what_is_set),
        TEST(conn_cfg_keeps_the_shared_rq_alive),
        TEST(srq_cfg_has_defaults_and_keeps_what_is_set),
        TEST(peer_cfg_descriptors_equal_the_recorded_ones),
        TEST(peer_cfg_descriptors_are_read_as_recorded),
        TEST(memory_can_run_out),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
