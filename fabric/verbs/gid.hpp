// SPDX-License-Identifier: BSD-3-Clause
// The GID table: every IP address of this machine (RoCEv2: IBTA annex A17). Global addresses come
// first, loopback last; an address keeps its index as long as the process lives.
#pragma once

#include <infiniband/verbs.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace fabric::verbs::gid {

struct Entry {
    ibv_gid gid{};  // all zero: the address that was here is gone
    std::uint32_t interface = 0;
};

// Thread-safe. Looks the addresses up anew if the last look is older than a second.
std::vector<Entry> table();
std::optional<Entry> at(std::uint32_t index);  // nothing: beyond the table, or empty

bool is_empty(const ibv_gid& gid);
ibv_gid of_address(const sockaddr_storage& address);  // IPv4 as an IPv4-mapped IPv6 address
sockaddr_storage to_address(const ibv_gid& gid, std::uint32_t interface, std::uint16_t port);

}  // namespace fabric::verbs::gid
