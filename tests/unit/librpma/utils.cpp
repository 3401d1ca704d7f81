// SPDX-License-Identifier: BSD-3-Clause
// Finding a device, asking it for on-demand paging.
#include <cerrno>

#include "harness.hpp"

namespace {

using fake::world;

constexpr auto kLocal = RPMA_UTIL_IBV_CONTEXT_LOCAL;
constexpr auto kRemote = RPMA_UTIL_IBV_CONTEXT_REMOTE;

void a_device_is_found(void**) {
    for (const auto type : {kLocal, kRemote}) {
        ibv_context* context = nullptr;
        EXPECT_OK(rpma_utils_get_ibv_context("192.0.2.1", type, &context));
        assert_ptr_equal(context, fake::context());
    }
    assert_int_equal(world.count("rdma_bind_addr"), 1);
    assert_int_equal(world.timeouts.size(), 1);
    assert_int_equal(world.timeouts[0], 1000);
}

void a_wildcard_stands_for_the_first_device(void**) {
    world.wildcard = true;
    ibv_context* context = nullptr;
    EXPECT_OK(rpma_utils_get_ibv_context("0.0.0.0", kLocal, &context));
    assert_ptr_equal(context, fake::context());
    context = harness::untouched<ibv_context>();
    world.fail("rdma_get_devices", 1, ENODEV);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_utils_get_ibv_context("0.0.0.0", kLocal, &context),
                 "ENODEV");
    assert_ptr_equal(context, harness::untouched<ibv_context>());
}

void every_address_is_tried(void**) {
    world.families = {AF_INET6, AF_INET};
    world.dead_families = {AF_INET6};
    for (const auto type : {kLocal, kRemote}) {
        ibv_context* context = nullptr;
        EXPECT_OK(rpma_utils_get_ibv_context("name", type, &context));
        assert_ptr_equal(context, fake::context());
    }
}

void failures_name_call_and_address(void**) {
    const struct {
        const char* call;
        rpma_util_ibv_context_type type;
    } rows[] = {{"rdma_getaddrinfo", kLocal},
                {"rdma_create_id", kLocal},
                {"rdma_bind_addr", kLocal},
                {"rdma_resolve_addr", kRemote},
                {"rdma_create_id", kRemote}};
    for (const auto& row : rows) {
        ibv_context* context = harness::untouched<ibv_context>();
        // Both families, if there is a second try.
        world.fail(row.call, 1, EIO);
        world.fail(row.call, 2, EIO);
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_utils_get_ibv_context("192.0.2.9", row.type, &context),
                     row.call);
        assert_true(harness::lines[0].text.find("192.0.2.9") != std::string::npos);
        assert_true(harness::lines[0].text.find("EIO") != std::string::npos);
        assert_ptr_equal(context, harness::untouched<ibv_context>());
        world.plans.clear();
    }
}

void a_machine_without_devices_is_told_so(void**) {
    world.present = false;
    for (const auto type : {kLocal, kRemote}) {
        ibv_context* context = harness::untouched<ibv_context>();
        EXPECT_FAILS(RPMA_E_PROVIDER, rpma_utils_get_ibv_context("127.0.0.1", type, &context),
                     "no RDMA device");
        for (const char* way : {"rpma-fabric run --", "Soft-RoCE", "adapter"}) {
            assert_true(harness::lines[0].text.find(way) != std::string::npos);
        }
        assert_ptr_equal(context, harness::untouched<ibv_context>());
    }
    world.present = true;
}

void on_demand_paging_needs_read_and_write(void**) {
    const struct {
        std::uint64_t general;
        std::uint32_t rc;
        int expected;
    } rows[] = {
        {IBV_ODP_SUPPORT, IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_WRITE, 1},
        {IBV_ODP_SUPPORT, IBV_ODP_SUPPORT_READ, 0},
        {IBV_ODP_SUPPORT, IBV_ODP_SUPPORT_WRITE, 0},
        {0, IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_WRITE, 0},
        {0, 0, 0},
    };
    for (const auto& row : rows) {
        world.odp_general = row.general;
        world.odp_rc = row.rc;
        int capable = 77;
        EXPECT_OK(rpma_utils_ibv_context_is_odp_capable(fake::context(), &capable));
        assert_int_equal(capable, row.expected);
    }
    int capable = 77;
    world.fail("query_device_ex", 1, EIO);
    EXPECT_FAILS(RPMA_E_PROVIDER, rpma_utils_ibv_context_is_odp_capable(fake::context(), &capable),
                 "EIO");
    assert_int_equal(capable, 77);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        TEST(a_device_is_found),
        TEST(a_wildcard_stands_for_the_first_device),
        TEST(every_address_is_tried),
        TEST(failures_name_call_and_address),
        TEST(a_machine_without_devices_is_told_so),
        TEST(on_demand_paging_needs_read_and_write),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
