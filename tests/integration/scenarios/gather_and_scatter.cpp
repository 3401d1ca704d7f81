// SPDX-License-Identifier: BSD-3-Clause
// Several gather and scatter entries in one request, odd sizes, one of zero bytes: the pieces join
// in order.
#include <algorithm>
#include <array>
#include <vector>

#include "common/pattern.hpp"
#include "common/verbs.hpp"

namespace {

constexpr std::array<std::size_t, 4> kPieces = {5000, 1, 0, 4099};
constexpr std::size_t kTotal = 5000 + 1 + 0 + 4099;
constexpr std::size_t kStride = 8192;
constexpr std::size_t kSpace = kStride * kPieces.size();

using Sges = std::initializer_list<ibv_sge>;

// The pieces lie apart in memory.
template <class Use>
void with_pieces(const it::VerbsMemory& memory, const Use& use) {
    use({memory.sge(1, kPieces[0]), memory.sge(kStride, kPieces[1]),
         memory.sge(2 * kStride, kPieces[2]), memory.sge(3 * kStride + 3, kPieces[3])});
}

// Copies between the pieces and one range.
std::vector<std::byte> joined(it::VerbsMemory& memory) {
    std::vector<std::byte> all;
    with_pieces(memory, [&](Sges sges) {
        for (const ibv_sge& sge : sges) {
            const auto piece = memory.bytes().subspan(sge.addr - memory.address(), sge.length);
            all.insert(all.end(), piece.begin(), piece.end());
        }
    });
    return all;
}

void fill_pieces(it::VerbsMemory& memory, std::uint64_t seed) {
    std::vector<std::byte> all(kTotal);
    it::fill(all, seed);
    std::size_t used = 0;
    with_pieces(memory, [&](Sges sges) {
        for (const ibv_sge& sge : sges) {
            std::copy_n(
                all.begin() + static_cast<std::ptrdiff_t>(used), sge.length,
                memory.bytes().begin() + static_cast<std::ptrdiff_t>(sge.addr - memory.address()));
            used += sge.length;
        }
    });
}

}  // namespace

void server(it::Role& role) {
    const it::CmId listener = it::verbs_listen(role);
    const it::CmId id = it::verbs_accept(listener.get());
    it::VerbsMemory memory(id.get(), kSpace, it::kAllAccess);
    it::VerbsMemory scattered(id.get(), kSpace, it::kAllAccess);
    with_pieces(scattered, [&](Sges sges) { it::post_receive(id.get(), 1, sges); });
    role.peer().give("memory", it::target_of(memory));
    CHECK_EQ(it::expect_success(id->recv_cq, 1).byte_len, kTotal);
    it::check_filled(joined(scattered), 1);
    role.peer().await("written");
    it::check_filled(memory.bytes().subspan(7, kTotal), 2);
    role.peer().signal("checked");
    it::verbs_disconnect(id.get());
}

void client(it::Role& role) {
    const it::CmId id = it::verbs_connect(role);
    it::VerbsMemory memory(id.get(), kSpace, it::kAllAccess);
    it::VerbsMemory back(id.get(), kSpace, it::kAllAccess);
    const auto target = role.peer().take<it::Target>("memory");
    fill_pieces(memory, 1);
    with_pieces(memory,
                [&](Sges sges) { it::post(id.get(), it::send_request(IBV_WR_SEND, 1), sges); });
    it::expect_success(id->send_cq, 1);
    fill_pieces(memory, 2);
    with_pieces(memory, [&](Sges sges) {
        it::post(id.get(), it::rdma_request(IBV_WR_RDMA_WRITE, 2, target, 7), sges);
    });
    it::expect_success(id->send_cq, 2);
    with_pieces(back, [&](Sges sges) {
        it::post(id.get(), it::rdma_request(IBV_WR_RDMA_READ, 3, target, 7), sges);
    });
    it::expect_success(id->send_cq, 3);
    it::check_filled(joined(back), 2);
    role.peer().signal("written");
    role.peer().await("checked");
    it::verbs_disconnect(id.get());
}
