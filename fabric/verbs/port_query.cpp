// SPDX-License-Identifier: BSD-3-Clause
// Port, GID table and partition keys.
#include <endian.h>

#include <algorithm>
#include <cstring>

#include "verbs/api.hpp"
#include "verbs/gid.hpp"
#include "verbs/limits.hpp"
#include "verbs/operations.hpp"

namespace fabric::verbs {
namespace {

// Values of the management interface (IBTA vol. 1, 14.2.5.6) that verbs.h has no names for.
constexpr std::uint8_t kWidth4x = 2;
constexpr std::uint8_t kSpeedEdr = 32;
constexpr std::uint8_t kLinkUp = 5;
constexpr int kGidTypeSysfsRoceV2 = 1;  // of ibv_query_gid_type

ibv_port_attr port_attributes() {
    ibv_port_attr attr{};
    attr.state = IBV_PORT_ACTIVE;
    attr.max_mtu = attr.active_mtu = IBV_MTU_4096;
    attr.gid_tbl_len = limits::kGidTable;
    attr.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
    attr.max_msg_sz = limits::kMaxMessage;
    attr.pkey_tbl_len = 1;
    attr.max_vl_num = 1;
    attr.active_width = kWidth4x;
    attr.active_speed = kSpeedEdr;
    attr.phys_state = kLinkUp;
    attr.link_layer = IBV_LINK_LAYER_ETHERNET;
    attr.flags = IBV_QPF_GRH_REQUIRED;
    return attr;
}

ibv_gid_entry shown_entry(const gid::Entry& entry, std::uint32_t index) {
    return {entry.gid, index, limits::kPort, IBV_GID_TYPE_ROCE_V2, entry.interface};
}

}  // namespace

// A program built with an older header passes a smaller structure.
int query_port(ibv_context*, std::uint8_t port, ibv_port_attr* attr, std::size_t size) {
    if (port != limits::kPort)
        return EINVAL;
    const ibv_port_attr all = port_attributes();
    std::memset(static_cast<void*>(attr), 0, size);
    std::memcpy(static_cast<void*>(attr), &all, std::min(size, sizeof all));
    return 0;
}

}  // namespace fabric::verbs

using namespace fabric::verbs;

// The exported function knows the structure only up to link_layer; inline code of verbs.h uses
// query_port above.
FABRIC_API int ibv_query_port(ibv_context* context, std::uint8_t port,
                              _compat_ibv_port_attr* attr) {
    constexpr std::size_t kKnown = offsetof(ibv_port_attr, link_layer) + 1;
    return query_port(context, port, reinterpret_cast<ibv_port_attr*>(attr), kKnown);
}

FABRIC_API int ibv_query_gid(ibv_context*, std::uint8_t port, int index, ibv_gid* out) {
    if (port != limits::kPort || index < 0 || index >= limits::kGidTable) {
        errno = EINVAL;
        return -1;
    }
    *out = gid::at(static_cast<std::uint32_t>(index)).value_or(gid::Entry{}).gid;
    return 0;
}

FABRIC_API int _ibv_query_gid_ex(ibv_context*, std::uint32_t port, std::uint32_t index,
                                 ibv_gid_entry* out, std::uint32_t flags, std::size_t size) {
    if (flags != 0 || size < sizeof(ibv_gid_entry))
        return EOPNOTSUPP;
    if (port != limits::kPort || index >= limits::kGidTable)
        return EINVAL;
    const auto entry = gid::at(index);
    if (!entry)
        return ENODATA;
    std::memset(static_cast<void*>(out), 0, size);
    *out = shown_entry(*entry, index);
    return 0;
}

FABRIC_API ssize_t _ibv_query_gid_table(ibv_context*, ibv_gid_entry* out, std::size_t room,
                                        std::uint32_t flags, std::size_t size) {
    if (flags != 0 || size < sizeof(ibv_gid_entry))
        return -EOPNOTSUPP;
    const auto entries = gid::table();
    auto* place = reinterpret_cast<std::byte*>(out);
    std::size_t count = 0;
    for (std::uint32_t index = 0; index < entries.size(); ++index) {
        if (gid::is_empty(entries[index].gid))
            continue;
        if (count++ == room)
            return -EINVAL;
        const ibv_gid_entry shown = shown_entry(entries[index], index);
        std::memset(place, 0, size);
        std::memcpy(place, &shown, sizeof shown);
        place += size;
    }
    return static_cast<ssize_t>(count);
}

// Private to rdma-core; ibv_devinfo uses it.
FABRIC_API int ibv_query_gid_type(ibv_context*, std::uint8_t port, unsigned index, int* type) {
    if (port != limits::kPort || index >= limits::kGidTable) {
        errno = EINVAL;
        return -1;
    }
    *type = kGidTypeSysfsRoceV2;
    return 0;
}

FABRIC_API int ibv_query_pkey(ibv_context*, std::uint8_t port, int index, __be16* pkey) {
    if (port != limits::kPort || index != 0) {
        errno = EINVAL;
        return -1;
    }
    *pkey = htobe16(limits::kPkey);
    return 0;
}

FABRIC_API int ibv_get_pkey_index(ibv_context*, std::uint8_t port, __be16 pkey) {
    if (port == limits::kPort && pkey == htobe16(limits::kPkey))
        return 0;
    errno = EINVAL;
    return -1;
}
