// SPDX-License-Identifier: BSD-3-Clause
#include <endian.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "config.hpp"
#include "verbs/api.hpp"
#include "verbs/device.hpp"
#include "verbs/limits.hpp"
#include "verbs/operations.hpp"

namespace fabric::verbs {
namespace {

constexpr unsigned kCapFlags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_SYS_IMAGE_GUID |
                               IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_PORT_ACTIVE_EVENT |
                               IBV_DEVICE_N_NOTIFY_CQ;
constexpr std::uint32_t kNoVendor = 0xffffff;         // no adapter maker's number
constexpr std::uint64_t kClockKilohertz = 1'000'000;  // time stamps are nanoseconds

void fill_identity(ibv_device_attr& attr) {
    static constexpr char kVersion[] = "1.0.0";
    std::copy(std::begin(kVersion), std::end(kVersion), std::begin(attr.fw_ver));
    attr.node_guid = attr.sys_image_guid = htobe64(device_guid());
    attr.vendor_id = kNoVendor;
    attr.vendor_part_id = 0;
    attr.hw_ver = 1;
    attr.phys_port_cnt = 1;
    attr.max_pkeys = 1;
}

void fill_limits(ibv_device_attr& attr) {
    attr.max_mr_size = UINT64_MAX;
    attr.page_size_cap = ~(static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) - 1);
    attr.max_qp = limits::kMaxQp;
    attr.max_qp_wr = limits::kMaxQpWr;
    attr.device_cap_flags = kCapFlags;
    attr.max_sge = attr.max_sge_rd = limits::kMaxSge;
    attr.max_cq = limits::kMaxCq;
    attr.max_cqe = limits::kMaxCqe;
    attr.max_mr = limits::kMaxMr;
    attr.max_pd = limits::kMaxPd;
    attr.max_qp_rd_atom = attr.max_qp_init_rd_atom = limits::kMaxReadAtomic;
    attr.max_res_rd_atom = limits::kMaxReadAtomic * limits::kMaxQp;
    attr.atomic_cap = IBV_ATOMIC_HCA;
    attr.max_srq = limits::kMaxSrq;
    attr.max_srq_wr = limits::kMaxSrqWr;
    attr.max_srq_sge = limits::kMaxSge;
}

ibv_device_attr_ex extended_attributes() {
    ibv_device_attr_ex attr{};
    fill_identity(attr.orig_attr);
    fill_limits(attr.orig_attr);
    attr.odp_caps.general_caps = IBV_ODP_SUPPORT;
    attr.odp_caps.per_transport_caps.rc_odp_caps =
        IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
        IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV;
    attr.completion_timestamp_mask = UINT64_MAX;
    attr.hca_core_clock = kClockKilohertz;
    attr.device_cap_flags_ex = kCapFlags;
    if (config().native_atomic_write)
        attr.device_cap_flags_ex |= limits::kCapAtomicWrite;
    if (config().native_flush)
        attr.device_cap_flags_ex |= limits::kCapFlushGlobal | limits::kCapFlushPersistent;
    attr.phys_port_cnt_ex = 1;
    return attr;
}

}  // namespace

// A program built with an older header asks for less, one with a newer header gets the rest as
// zeros.
int query_device_ex(ibv_context*, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attr,
                    std::size_t size) {
    if (input != nullptr && input->comp_mask != 0)
        return EINVAL;
    if (size < sizeof attr->orig_attr)
        return EINVAL;
    const ibv_device_attr_ex all = extended_attributes();
    std::memset(static_cast<void*>(attr), 0, size);
    std::memcpy(static_cast<void*>(attr), &all, std::min(size, sizeof all));
    return 0;
}

int query_rt_values(ibv_context*, ibv_values_ex* values) {
    const bool wanted = (values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) != 0;
    if ((values->comp_mask & ~static_cast<unsigned>(IBV_VALUES_MASK_RAW_CLOCK)) != 0)
        return EINVAL;
    values->comp_mask = wanted ? IBV_VALUES_MASK_RAW_CLOCK : 0;
    return wanted && clock_gettime(CLOCK_MONOTONIC, &values->raw_clock) != 0 ? errno : 0;
}

}  // namespace fabric::verbs

FABRIC_API int ibv_query_device(ibv_context*, ibv_device_attr* attr) {
    *attr = fabric::verbs::extended_attributes().orig_attr;
    return 0;
}
