// SPDX-License-Identifier: BSD-3-Clause
// The device, its port and its addresses; and what it does not have.
#include <endian.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "cmocka.hpp"
#include "queue_pairs.hpp"
#include "verbs/gid.hpp"
#include "verbs/limits.hpp"

using verbs_test::Device;
namespace limits = fabric::verbs::limits;

namespace {

void one_device(void**) {
    int count = 0;
    ibv_device** const list = ibv_get_device_list(&count);
    assert_int_equal(count, 1);
    assert_null(list[1]);
    assert_string_equal(ibv_get_device_name(list[0]), "fabric0");
    assert_int_equal(list[0]->node_type, IBV_NODE_CA);
    assert_int_equal(list[0]->transport_type, IBV_TRANSPORT_IB);
    assert_true(ibv_get_device_guid(list[0]) != 0);
    assert_int_equal(ibv_get_device_guid(list[0]), ibv_get_device_guid(list[0]));
    ibv_free_device_list(list);
    ibv_device stranger{};
    assert_null(ibv_open_device(&stranger));
    assert_int_equal(errno, ENODEV);
}

void attributes(void**) {
    Device device;
    ibv_device_attr attr{};
    assert_int_equal(ibv_query_device(device.context, &attr), 0);
    assert_int_equal(attr.phys_port_cnt, 1);
    assert_int_equal(attr.atomic_cap, IBV_ATOMIC_HCA);
    assert_true(attr.max_qp_rd_atom >= 16 && attr.max_sge == 32);
    ibv_device_attr_ex extended{};
    assert_int_equal(ibv_query_device_ex(device.context, nullptr, &extended), 0);
    assert_memory_equal(&extended.orig_attr, &attr, sizeof attr);
    assert_true((extended.odp_caps.general_caps & IBV_ODP_SUPPORT) != 0);
    assert_true((extended.odp_caps.per_transport_caps.rc_odp_caps & IBV_ODP_SUPPORT_WRITE) != 0);
    const ibv_query_device_ex_input wrong = {1};
    assert_int_equal(ibv_query_device_ex(device.context, &wrong, &extended), EINVAL);
}

void port(void**) {
    Device device;
    ibv_port_attr attr{};
    assert_int_equal(ibv_query_port(device.context, 1, &attr), 0);
    assert_int_equal(attr.state, IBV_PORT_ACTIVE);
    assert_int_equal(attr.link_layer, IBV_LINK_LAYER_ETHERNET);
    assert_int_equal(attr.flags, IBV_QPF_GRH_REQUIRED);
    assert_int_equal(attr.active_mtu, IBV_MTU_4096);
    assert_int_equal(attr.gid_tbl_len, limits::kGidTable);
    assert_int_equal(ibv_query_port(device.context, 0, &attr), EINVAL);
    assert_int_equal(ibv_query_port(device.context, 2, &attr), EINVAL);
    __be16 pkey = 0;
    assert_int_equal(ibv_query_pkey(device.context, 1, 0, &pkey), 0);
    assert_int_equal(pkey, 0xffff);
    assert_int_equal(ibv_query_pkey(device.context, 1, 1, &pkey), -1);
    assert_int_equal(ibv_get_pkey_index(device.context, 1, 0xffff), 0);
    assert_int_equal(ibv_get_pkey_index(device.context, 1, 0x1234), -1);
}

void every_address_has_a_gid(void**) {
    Device device;
    std::vector<ibv_gid_entry> entries(limits::kGidTable);
    const ssize_t count = ibv_query_gid_table(device.context, entries.data(), entries.size(), 0);
    assert_true(count >= 1);
    ifaddrs* list = nullptr;
    assert_int_equal(getifaddrs(&list), 0);
    for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
        if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET)
            continue;
        sockaddr_storage address{};
        std::memcpy(&address, at->ifa_addr, sizeof(sockaddr_in));
        const ibv_gid gid = fabric::verbs::gid::of_address(address);
        int found = 0;
        for (ssize_t i = 0; i < count; ++i)
            found += std::memcmp(&entries[static_cast<std::size_t>(i)].gid, &gid, sizeof gid) == 0;
        assert_int_equal(found, 1);
    }
    freeifaddrs(list);
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(count); ++i) {
        const ibv_gid_entry& entry = entries[i];
        assert_int_equal(entry.gid_type, IBV_GID_TYPE_ROCE_V2);
        assert_int_equal(entry.port_num, 1);
        ibv_gid plain{};
        assert_int_equal(
            ibv_query_gid(device.context, 1, static_cast<int>(entry.gid_index), &plain), 0);
        assert_memory_equal(&plain, &entry.gid, sizeof plain);
        ibv_gid_entry one{};
        assert_int_equal(ibv_query_gid_ex(device.context, 1, entry.gid_index, &one, 0), 0);
        assert_memory_equal(&one, &entry, sizeof one);
    }
}

void gids_that_are_not_there(void**) {
    Device device;
    ibv_gid gid{};
    ibv_gid_entry entry{};
    assert_int_equal(ibv_query_gid(device.context, 1, limits::kGidTable, &gid), -1);
    assert_int_equal(ibv_query_gid(device.context, 1, -1, &gid), -1);
    assert_int_equal(ibv_query_gid(device.context, 2, 0, &gid), -1);
    assert_int_equal(ibv_query_gid(device.context, 1, limits::kGidTable - 1, &gid), 0);
    assert_true(fabric::verbs::gid::is_empty(gid));
    assert_int_equal(ibv_query_gid_ex(device.context, 1, limits::kGidTable - 1, &entry, 0),
                     ENODATA);
    assert_int_equal(ibv_query_gid_ex(device.context, 1, limits::kGidTable, &entry, 0), EINVAL);
    assert_int_equal(ibv_query_gid_ex(device.context, 2, 0, &entry, 0), EINVAL);
    assert_int_equal(ibv_query_gid_table(device.context, &entry, 0, 0), -EINVAL);
}

void gids_and_addresses(void**) {
    sockaddr_storage v4{};
    auto& in = reinterpret_cast<sockaddr_in&>(v4);
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(0xc0000201);
    const ibv_gid gid = fabric::verbs::gid::of_address(v4);
    const sockaddr_storage back = fabric::verbs::gid::to_address(gid, 0, 77);
    assert_int_equal(back.ss_family, AF_INET);
    assert_int_equal(reinterpret_cast<const sockaddr_in&>(back).sin_addr.s_addr,
                     in.sin_addr.s_addr);
    assert_int_equal(reinterpret_cast<const sockaddr_in&>(back).sin_port, htons(77));
    ibv_gid local{};
    local.raw[0] = 0xfe;
    local.raw[1] = 0x80;
    local.raw[15] = 1;
    const sockaddr_storage scoped = fabric::verbs::gid::to_address(local, 3, 1);
    assert_int_equal(scoped.ss_family, AF_INET6);
    assert_int_equal(reinterpret_cast<const sockaddr_in6&>(scoped).sin6_scope_id, 3);
}

#define assert_refused(call)                 \
    do {                                     \
        errno = 0;                           \
        assert_null(call);                   \
        assert_int_equal(errno, EOPNOTSUPP); \
    } while (false)

void what_does_not_exist_says_so(void**) {
    Device device;
    ibv_context* const context = device.context;
    ibv_td_init_attr td{};
    ibv_xrcd_init_attr xrcd{};
    ibv_ah_attr ah{};
    ibv_alloc_dm_attr dm{};
    ibv_wq_init_attr wq{};
    ibv_parent_domain_init_attr parent{};
    ibv_counters_init_attr counters{};
    ibv_qp_open_attr open{};
    assert_refused(ibv_alloc_mw(device.pd, IBV_MW_TYPE_1));
    assert_refused(ibv_alloc_td(context, &td));
    assert_refused(ibv_open_xrcd(context, &xrcd));
    assert_refused(ibv_create_ah(device.pd, &ah));
    assert_refused(ibv_alloc_dm(context, &dm));
    assert_refused(ibv_create_wq(context, &wq));
    assert_refused(ibv_alloc_parent_domain(context, &parent));
    assert_refused(ibv_create_counters(context, &counters));
    assert_refused(ibv_open_qp(context, &open));
    assert_refused(ibv_alloc_null_mr(device.pd));
    assert_refused(ibv_import_device(0));
    assert_refused(ibv_import_pd(context, 0));
    assert_refused(ibv_reg_dmabuf_mr(device.pd, 0, 4096, 0, 0, 0));
}

void other_queue_pair_types(void**) {
    Device device;
    ibv_cq* const cq = device.make_cq();
    for (const ibv_qp_type type : {IBV_QPT_UD, IBV_QPT_UC, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND}) {
        ibv_qp_init_attr init{};
        init.send_cq = init.recv_cq = cq;
        init.cap = {1, 1, 1, 1, 0};
        init.qp_type = type;
        assert_refused(ibv_create_qp(device.pd, &init));
    }
    assert_int_equal(ibv_destroy_cq(cq), 0);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(one_device),
        cmocka_unit_test(attributes),
        cmocka_unit_test(port),
        cmocka_unit_test(every_address_has_a_gid),
        cmocka_unit_test(gids_that_are_not_there),
        cmocka_unit_test(gids_and_addresses),
        cmocka_unit_test(what_does_not_exist_says_so),
        cmocka_unit_test(other_queue_pair_types),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
