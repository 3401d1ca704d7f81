// SPDX-License-Identifier: BSD-3-Clause
#include "cm/route.hpp"

#include <netinet/in.h>
#include <sys/random.h>

#include <algorithm>
#include <atomic>

#include "cm/device.hpp"
#include "cm/limits.hpp"

namespace fabric::cm {
namespace {

// Selector of a path record's MTU, rate and life time: exactly.
constexpr std::uint8_t kExactly = 2;
constexpr std::uint8_t kRate = IBV_RATE_MAX;

}  // namespace

void fill_gids(Id& id) {
    rdma_ib_addr& gids = id.route.addr.addr.ibaddr;
    gids.sgid = gid_of(id.route.addr.src_storage);
    gids.dgid = gid_of(id.route.addr.dst_storage);
    gids.pkey = htons(kPartitionKey);
}

void fill_path(Id& id) {
    ibv_sa_path_rec& path = id.path;
    path = {};
    path.sgid = id.route.addr.addr.ibaddr.sgid;
    path.dgid = id.route.addr.addr.ibaddr.dgid;
    path.hop_limit = kHopLimit;
    path.traffic_class = id.options.traffic_class;
    path.reversible = 1;
    path.numb_path = 1;
    path.pkey = htons(kPartitionKey);
    path.mtu_selector = kExactly;
    path.mtu = std::min(Device::mtu_code(), kMaxInfinibandMtuCode);
    path.rate_selector = kExactly;
    path.rate = kRate;
    path.packet_life_time_selector = kExactly;
    path.packet_life_time = kPacketLifeTime;
    id.route.path_rec = &path;
    id.route.num_paths = 1;
}

std::uint32_t random_number() {
    std::uint32_t number = 0;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
        number =
            static_cast<std::uint32_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    return number;
}

std::uint32_t new_local_id() {
    static std::atomic<std::uint32_t> next{random_number()};
    std::uint32_t id = next.fetch_add(1);
    while (id == 0)
        id = next.fetch_add(1);
    return id;
}

}  // namespace fabric::cm
