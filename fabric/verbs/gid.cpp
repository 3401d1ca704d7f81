// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/gid.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <mutex>
#include <tuple>

#include "global_lock.hpp"
#include "verbs/limits.hpp"

namespace fabric::verbs::gid {
namespace {

using Clock = std::chrono::steady_clock;

struct Found {
    Entry entry;
    int rank;  // where the address is useful: everywhere first
};

struct Table {
    GlobalLock mutex;
    std::vector<Entry> entries;
    Clock::time_point looked;
};

Table& shared() {
    static Table* const instance = new Table;
    return *instance;
}

bool equal(const ibv_gid& a, const ibv_gid& b) {
    return std::memcmp(a.raw, b.raw, sizeof a.raw) == 0;
}

int rank_of(const sockaddr_storage& address, unsigned flags) {
    const bool v6 = address.ss_family == AF_INET6;
    const auto& in6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    if ((flags & IFF_LOOPBACK) != 0)
        return v6 ? 4 : 3;
    if (v6)
        return IN6_IS_ADDR_LINKLOCAL(&in6) ? 2 : 1;
    return 0;
}

std::optional<Found> found_at(const ifaddrs& item) {
    if (item.ifa_addr == nullptr || (item.ifa_flags & IFF_UP) == 0)
        return std::nullopt;
    const int family = item.ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6)
        return std::nullopt;
    sockaddr_storage address{};
    std::memcpy(&address, item.ifa_addr,
                family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    return Found{{of_address(address), if_nametoindex(item.ifa_name)},
                 rank_of(address, item.ifa_flags)};
}

std::vector<Found> addresses() {
    std::vector<Found> out;
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0)
        return out;
    for (const ifaddrs* item = list; item != nullptr; item = item->ifa_next)
        if (const auto found = found_at(*item))
            out.push_back(*found);
    freeifaddrs(list);
    std::stable_sort(out.begin(), out.end(), [](const Found& a, const Found& b) {
        return std::tie(a.rank, a.entry.interface) < std::tie(b.rank, b.entry.interface);
    });
    return out;
}

// Addresses that stay keep their place, those that are gone leave a hole, new ones fill holes or
// come last.
void merge(std::vector<Entry>& entries, const std::vector<Found>& now) {
    const auto same = [](const Entry& a, const Entry& b) {
        return equal(a.gid, b.gid) && a.interface == b.interface;
    };
    for (Entry& entry : entries)
        if (std::none_of(now.begin(), now.end(),
                         [&](const Found& found) { return same(found.entry, entry); }))
            entry = Entry{};
    for (const Found& found : now) {
        if (std::any_of(entries.begin(), entries.end(),
                        [&](const Entry& entry) { return same(found.entry, entry); }))
            continue;
        const auto hole = std::find_if(entries.begin(), entries.end(),
                                       [](const Entry& entry) { return is_empty(entry.gid); });
        if (hole != entries.end())
            *hole = found.entry;
        else if (entries.size() < limits::kGidTable)
            entries.push_back(found.entry);
    }
}

}  // namespace

std::vector<Entry> table() {
    Table& self = shared();
    const std::lock_guard guard(self.mutex);
    const auto now = Clock::now();
    if (self.entries.empty() || now - self.looked > std::chrono::seconds(1)) {
        merge(self.entries, addresses());
        self.looked = now;
    }
    return self.entries;
}

std::optional<Entry> at(std::uint32_t index) {
    const auto entries = table();
    if (index >= entries.size() || is_empty(entries[index].gid))
        return std::nullopt;
    return entries[index];
}

bool is_empty(const ibv_gid& gid) {
    return std::all_of(std::begin(gid.raw), std::end(gid.raw),
                       [](std::uint8_t byte) { return byte == 0; });
}

ibv_gid of_address(const sockaddr_storage& address) {
    ibv_gid out{};
    if (address.ss_family == AF_INET) {
        const auto& in = reinterpret_cast<const sockaddr_in&>(address);
        out.raw[10] = out.raw[11] = 0xff;
        std::memcpy(out.raw + 12, &in.sin_addr, sizeof in.sin_addr);
    } else {
        const auto& in6 = reinterpret_cast<const sockaddr_in6&>(address);
        std::memcpy(out.raw, &in6.sin6_addr, sizeof in6.sin6_addr);
    }
    return out;
}

sockaddr_storage to_address(const ibv_gid& gid, std::uint32_t interface, std::uint16_t port) {
    sockaddr_storage out{};
    in6_addr in6{};
    std::memcpy(&in6, gid.raw, sizeof in6);
    if (IN6_IS_ADDR_V4MAPPED(&in6)) {
        auto& v4 = reinterpret_cast<sockaddr_in&>(out);
        v4.sin_family = AF_INET;
        v4.sin_port = htons(port);
        std::memcpy(&v4.sin_addr, gid.raw + 12, sizeof v4.sin_addr);
        return out;
    }
    auto& v6 = reinterpret_cast<sockaddr_in6&>(out);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    v6.sin6_addr = in6;
    if (IN6_IS_ADDR_LINKLOCAL(&in6))
        v6.sin6_scope_id = interface;
    return out;
}

}  // namespace fabric::verbs::gid
