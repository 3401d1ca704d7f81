// SPDX-License-Identifier: BSD-3-Clause
// Advice about a region's pages: for a right range 0 or "not supported", never "invalid"; wrong
// ranges and unknown advice are refused. One process.
#include <array>

#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = 65536;
constexpr std::uint32_t kFlush = IBV_ADVISE_MR_FLAG_FLUSH;

void accept_right_range(rpma_mr_local* mr, std::size_t offset, std::size_t size, int advice) {
    const int code = rpma_mr_advise(mr, offset, size, advice, kFlush);
    if (code != 0) {
        CHECK_CODE(code, RPMA_E_NOSUPP);
    }
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::Region region(peer.get(), kSize, it::kUsualUsage);
    accept_right_range(region.mr(), 0, kSize, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE);
    accept_right_range(region.mr(), 4096, 4096, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE);
    accept_right_range(region.mr(), 0, kSize, IBV_ADVISE_MR_ADVICE_PREFETCH);
    const int prefetch = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
    CHECK_CODE(rpma_mr_advise(region.mr(), 1, kSize, prefetch, kFlush), RPMA_E_INVAL);
    CHECK_CODE(rpma_mr_advise(region.mr(), SIZE_MAX, 2, prefetch, kFlush), RPMA_E_INVAL);
    CHECK_CODE(rpma_mr_advise(nullptr, 0, 1, prefetch, kFlush), RPMA_E_INVAL);
    const int unknown = rpma_mr_advise(region.mr(), 0, kSize, 77, kFlush);
    CHECK(unknown == RPMA_E_INVAL || unknown == RPMA_E_NOSUPP);
}

void client(it::Role&) {}
