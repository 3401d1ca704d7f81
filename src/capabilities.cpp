// SPDX-License-Identifier: BSD-3-Clause
#include "capabilities.hpp"

#include "err.hpp"
#include "native.hpp"
#include "public.hpp"

namespace rpma {

namespace {

/// Bits of ibv_device_attr_ex::device_cap_flags_ex (uapi rdma/ib_user_verbs.h, enum
/// ib_uverbs_device_cap_flags), which the kernel headers of Debian 12 do not have yet.
constexpr std::uint64_t kCapFlushGlobal = 1ULL << 38;
constexpr std::uint64_t kCapFlushPersistent = 1ULL << 39;
constexpr std::uint64_t kCapAtomicWrite = 1ULL << 40;

bool has_all(std::uint64_t flags, std::uint64_t wanted) {
    return (flags & wanted) == wanted;
}

bool is_odp_capable(const ibv_odp_caps& caps) {
    return has_all(caps.general_caps, IBV_ODP_SUPPORT) &&
           has_all(caps.per_transport_caps.rc_odp_caps,
                   IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ);
}

}  // namespace

Status query_capabilities(ibv_context* context, Capabilities& out) {
    ibv_device_attr_ex attributes = {};
    const int result = ibv_query_device_ex(context, nullptr, &attributes);
    if (result != 0) {
        return Status::system(RPMA_E_PROVIDER, errno_of(result), "ibv_query_device_ex failed");
    }
    const std::uint64_t flags = attributes.device_cap_flags_ex;
    out.odp = is_odp_capable(attributes.odp_caps);
    out.atomic_write = kHeadersKnowAtomicWrite && has_all(flags, kCapAtomicWrite);
    out.flush = kHeadersKnowFlush && has_all(flags, kCapFlushGlobal | kCapFlushPersistent);
    out.iwarp = context->device->transport_type == IBV_TRANSPORT_IWARP;
    return {};
}

}  // namespace rpma
