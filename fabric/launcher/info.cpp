// SPDX-License-Identifier: BSD-3-Clause
#include "info.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <infiniband/verbs.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace launcher {
namespace {

// Bits of device_cap_flags_ex (rdma/ib_user_verbs.h); spelled out because the headers of rdma-core
// 44 lack the first two.
constexpr std::uint64_t kCapFlushGlobal = 1ULL << 38;
constexpr std::uint64_t kCapFlushPersistent = 1ULL << 39;
constexpr std::uint64_t kCapAtomicWrite = 1ULL << 40;

using Context = std::unique_ptr<ibv_context, decltype(&ibv_close_device)>;

const char* link_layer(std::uint8_t layer) {
    switch (layer) {
        case IBV_LINK_LAYER_ETHERNET:
            return "Ethernet";
        case IBV_LINK_LAYER_INFINIBAND:
            return "InfiniBand";
        default:
            return "unspecified";
    }
}

const char* transport(ibv_transport_type type) {
    switch (type) {
        case IBV_TRANSPORT_IB:
            return "InfiniBand";
        case IBV_TRANSPORT_IWARP:
            return "iWARP";
        default:
            return "other";
    }
}

constexpr unsigned mtu_bytes(ibv_mtu mtu) {
    return 128U << static_cast<unsigned>(mtu);
}

std::string address_of(const ibv_gid& gid) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    const bool is_v4 = std::memcmp(gid.raw, kMapped.data(), kMapped.size()) == 0;
    const void* raw = is_v4 ? gid.raw + kMapped.size() : gid.raw;
    inet_ntop(is_v4 ? AF_INET : AF_INET6, raw, text.data(), text.size());
    return text.data();
}

void print_port(ibv_context* context, std::uint8_t number) {
    ibv_port_attr port{};
    if (ibv_query_port(context, number, &port) != 0) {
        fmt::print("  port {:<14}cannot be queried\n", number);
        return;
    }
    fmt::print("  port {:<14}{}, {} link, MTU {} bytes, messages up to {} bytes\n", number,
               ibv_port_state_str(port.state), link_layer(port.link_layer),
               mtu_bytes(port.active_mtu), port.max_msg_sz);
    for (int i = 0; i < port.gid_tbl_len; i++) {
        ibv_gid gid{};
        if (ibv_query_gid(context, number, i, &gid) == 0 &&
            (gid.global.subnet_prefix | gid.global.interface_id) != 0) {
            fmt::print("  {:<19}{}\n", fmt::format("address (GID {})", i), address_of(gid));
        }
    }
}

void print_limits(const ibv_device_attr& limits) {
    fmt::print("  queue pairs        {}, {} work requests each, {} segments per request\n",
               limits.max_qp, limits.max_qp_wr, limits.max_sge);
    fmt::print("  completion queues  {}, {} entries each\n", limits.max_cq, limits.max_cqe);
    fmt::print("  shared receive     {} queues, {} work requests each\n", limits.max_srq,
               limits.max_srq_wr);
    fmt::print("  memory regions     {}, {} bytes each\n", limits.max_mr, limits.max_mr_size);
    fmt::print("  protection domains {}\n", limits.max_pd);
    fmt::print("  reads and atomics  {} in flight as initiator, {} as responder\n",
               limits.max_qp_init_rd_atom, limits.max_qp_rd_atom);
}

const char* yes_no(bool value) {
    return value ? "yes" : "no";
}

void print_native(const ibv_device_attr_ex& attributes) {
    const std::uint64_t caps = attributes.device_cap_flags_ex;
    fmt::print(
        "  native operations  flush to visibility {}, flush to persistence {}, atomic write {}\n",
        yes_no((caps & kCapFlushGlobal) != 0), yes_no((caps & kCapFlushPersistent) != 0),
        yes_no((caps & kCapAtomicWrite) != 0));
    fmt::print("  on-demand paging   {}\n",
               yes_no((attributes.odp_caps.general_caps & IBV_ODP_SUPPORT) != 0));
}

Result<void> print_device(ibv_device* device) {
    const Context context(ibv_open_device(device), &ibv_close_device);
    const int open_error = errno;
    if (!context) {
        return failure(kExitFailure,
                       fmt::format("{}: cannot be opened: {}", ibv_get_device_name(device),
                                   std::strerror(open_error)));
    }
    ibv_device_attr_ex attributes{};
    if (const int error = ibv_query_device_ex(context.get(), nullptr, &attributes); error != 0) {
        return failure(kExitFailure,
                       fmt::format("{}: cannot be queried: {}", ibv_get_device_name(device),
                                   std::strerror(error)));
    }
    fmt::print("{}\n  transport          {}, firmware {}\n", ibv_get_device_name(device),
               transport(device->transport_type), attributes.orig_attr.fw_ver);
    for (std::uint8_t port = 1; port <= attributes.orig_attr.phys_port_cnt; port++) {
        print_port(context.get(), port);
    }
    print_limits(attributes.orig_attr);
    print_native(attributes);
    return {};
}

}  // namespace

Result<void> print_devices() {
    int count = 0;
    const std::unique_ptr<ibv_device*, decltype(&ibv_free_device_list)> list(
        ibv_get_device_list(&count), &ibv_free_device_list);
    const int error = errno;
    if (!list || count == 0) {
        return failure(kExitFailure,
                       fmt::format("this machine has no RDMA device ({}); `rpma-fabric info` "
                                   "without --real shows the one made "
                                   "of software, which `rpma-fabric run` gives to programs",
                                   list ? "the list is empty" : std::strerror(error)));
    }
    for (int i = 0; i < count; i++) {
        if (auto printed = print_device(list.get()[i]); !printed) {
            return printed;
        }
    }
    return {};
}

}  // namespace launcher
