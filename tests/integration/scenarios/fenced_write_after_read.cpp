// SPDX-License-Identifier: BSD-3-Clause
// A request with the fence bit starts only after the reads and atomics posted before it: here a
// write sends on what the read before it fetches.
#include "common/pattern.hpp"
#include "common/verbs.hpp"

namespace {
constexpr std::size_t kSize = 1U << 18U;
constexpr std::uint64_t kRounds = 50;
}  // namespace

void server(it::Role& role) {
    const it::CmId listener = it::verbs_listen(role);
    const it::CmId id = it::verbs_accept(listener.get());
    it::VerbsMemory source(id.get(), kSize, it::kAllAccess);
    it::VerbsMemory copy(id.get(), kSize, it::kAllAccess);
    role.peer().give("source", it::target_of(source));
    role.peer().give("copy", it::target_of(copy));
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        it::fill(source.bytes(), round);
        role.peer().signal("filled");
        role.peer().await("copied");
        it::check_filled(copy.bytes(), round);
    }
    role.peer().signal("checked");
    it::verbs_disconnect(id.get());
}

void client(it::Role& role) {
    const it::CmId id = it::verbs_connect(role);
    it::VerbsMemory transit(id.get(), kSize, it::kAllAccess);
    const auto source = role.peer().take<it::Target>("source");
    const auto copy = role.peer().take<it::Target>("copy");
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        role.peer().await("filled");
        it::post(id.get(), it::rdma_request(IBV_WR_RDMA_READ, 1, source, 0),
                 {transit.sge(0, kSize)});
        it::post(
            id.get(),
            it::rdma_request(IBV_WR_RDMA_WRITE, 2, copy, 0, IBV_SEND_SIGNALED | IBV_SEND_FENCE),
            {transit.sge(0, kSize)});
        it::expect_success(id->send_cq, 1);
        it::expect_success(id->send_cq, 2);
        role.peer().signal("copied");
    }
    role.peer().await("checked");
    it::verbs_disconnect(id.get());
}
