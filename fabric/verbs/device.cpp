// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/device.hpp"

#include <endian.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <span>
#include <string_view>

#include "verbs/api.hpp"

namespace fabric::verbs {
namespace {

constexpr int kDeviceIndex = 1;

void set_text(std::span<char> field, std::string_view text) {
    std::copy_n(text.begin(), std::min(text.size(), field.size() - 1), field.begin());
}

ibv_device make_device() {
    ibv_device made{};
    made.node_type = IBV_NODE_CA;
    made.transport_type = IBV_TRANSPORT_IB;
    set_text(made.name, "fabric0");
    set_text(made.dev_name, "uverbs-fabric0");
    set_text(made.dev_path, "/sys/class/infiniband_verbs/uverbs-fabric0");
    set_text(made.ibdev_path, "/sys/class/infiniband/fabric0");
    return made;
}

// EUI-64 from an Ethernet address, as RoCE devices do (IEEE guideline for 48-bit identifiers).
std::uint64_t guid_of_mac(const unsigned char* mac) {
    const std::array<unsigned char, 8> bytes = {
        static_cast<unsigned char>(mac[0] ^ 2), mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
    std::uint64_t guid = 0;
    std::memcpy(&guid, bytes.data(), sizeof guid);
    return be64toh(guid);
}

// FNV-1a; for machines without an Ethernet interface.
std::uint64_t guid_of_host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char* at = name.data(); *at != '\0'; ++at)
        hash = (hash ^ static_cast<unsigned char>(*at)) * 0x100000001b3;
    return hash | 0x0200000000000000;  // locally administered
}

std::uint64_t find_guid() {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0)
        return guid_of_host_name();
    int best_index = 0;
    std::uint64_t guid = 0;
    for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
        if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_PACKET ||
            (at->ifa_flags & IFF_LOOPBACK) != 0)
            continue;
        const auto* const link = reinterpret_cast<const sockaddr_ll*>(at->ifa_addr);
        if (link->sll_halen != 6 || (guid != 0 && link->sll_ifindex >= best_index))
            continue;
        best_index = link->sll_ifindex;
        guid = guid_of_mac(link->sll_addr);
    }
    freeifaddrs(list);
    return guid != 0 ? guid : guid_of_host_name();
}

}  // namespace

ibv_device& device() {
    static ibv_device instance = make_device();
    return instance;
}

std::uint64_t device_guid() {
    static const std::uint64_t guid = find_guid();
    return guid;
}

}  // namespace fabric::verbs

using namespace fabric::verbs;

FABRIC_API ibv_device** ibv_get_device_list(int* count) {
    auto** const list = new (std::nothrow) ibv_device* [2] {};
    if (list == nullptr)
        return fail(ENOMEM);
    list[0] = &device();
    if (count != nullptr)
        *count = 1;
    return list;
}

FABRIC_API void ibv_free_device_list(ibv_device** list) {
    delete[] list;
}

FABRIC_API const char* ibv_get_device_name(ibv_device* of) {
    return of->name;
}

FABRIC_API int ibv_get_device_index(ibv_device*) {
    return kDeviceIndex;
}

FABRIC_API __be64 ibv_get_device_guid(ibv_device*) {
    return htobe64(device_guid());
}

// Nothing is pinned and no page is shared with a device, so a fork needs no preparation.
FABRIC_API int ibv_fork_init() {
    return 0;
}

FABRIC_API ibv_fork_status ibv_is_fork_initialized() {
    return IBV_FORK_UNNEEDED;
}
