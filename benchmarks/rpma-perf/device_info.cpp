// SPDX-License-Identifier: BSD-3-Clause
#include "device_info.hpp"

#include "native.hpp"

namespace perf {
namespace {

// Bits of device_cap_flags_ex (rdma/ib_user_verbs.h), which headers of rdma-core 44 lack in part.
constexpr std::uint64_t kCapFlush = 1ULL << 38 | 1ULL << 39;
constexpr std::uint64_t kCapAtomicWrite = 1ULL << 40;

const char* transport_of(ibv_context* context) {
    switch (context->device->transport_type) {
        case IBV_TRANSPORT_IB:
            return "InfiniBand";
        case IBV_TRANSPORT_IWARP:
            return "iWARP";
        default:
            return "other";
    }
}

}  // namespace

NativeOperations native_operations(ibv_context* context) {
    ibv_device_attr_ex attributes{};
    if (ibv_query_device_ex(context, nullptr, &attributes) != 0) {
        return {};
    }
    const std::uint64_t flags = attributes.device_cap_flags_ex;
    return {rpma::kHeadersKnowFlush && (flags & kCapFlush) == kCapFlush,
            rpma::kHeadersKnowAtomicWrite && (flags & kCapAtomicWrite) != 0};
}

nlohmann::json describe_device(ibv_context* context) {
    nlohmann::json out = {{"name", ibv_get_device_name(context->device)},
                          {"transport", transport_of(context)}};
    ibv_device_attr attributes{};
    if (ibv_query_device(context, &attributes) == 0) {
        out["firmware"] = attributes.fw_ver;
    }
    ibv_port_attr port{};
    if (ibv_query_port(context, 1, &port) == 0) {
        out["link_layer"] = port.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand";
        out["mtu"] = 128U << static_cast<unsigned>(port.active_mtu);
    }
    const NativeOperations native = native_operations(context);
    out["native_flush"] = native.flush;
    out["native_atomic_write"] = native.atomic_write;
    return out;
}

}  // namespace perf
