// SPDX-License-Identifier: BSD-3-Clause
// Inline data: from memory that is not registered, copied before the post returns; too much of it
// is refused by the post.
#include <array>

#include "common/pattern.hpp"
#include "common/verbs.hpp"

namespace {

constexpr std::uint64_t kMessages = 16;
constexpr std::size_t kSize = 48;

void post_inline(rdma_cm_id* id, ibv_send_wr request, std::uint64_t seed) {
    std::array<std::byte, kSize> message{};
    it::fill(message, seed);
    const auto address = reinterpret_cast<std::uintptr_t>(message.data());
    it::post(id, request,
             {{.addr = address, .length = 20, .lkey = 0},
              {.addr = address + 20, .length = kSize - 20, .lkey = 0}});
    it::fill(message, 9999);  // must not be what arrives
    asm volatile("" : : "r"(message.data()) : "memory");
}

void refuse_too_much(rdma_cm_id* id) {
    std::array<std::byte, 8192> message{};
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(message.data()),
                .length = message.size(),
                .lkey = 0};
    ibv_send_wr request = it::send_request(IBV_WR_SEND, 99, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
    request.sg_list = &sge;
    request.num_sge = 1;
    ibv_send_wr* bad = nullptr;
    CHECK(ibv_post_send(id->qp, &request, &bad) != 0);
    CHECK(bad == &request);
}

}  // namespace

void server(it::Role& role) {
    const it::CmId listener = it::verbs_listen(role);
    const it::CmId id = it::verbs_accept(listener.get());
    it::VerbsMemory memory(id.get(), kSize * kMessages, it::kAllAccess);
    it::VerbsMemory written(id.get(), kSize, it::kAllAccess);
    for (std::uint64_t message = 0; message < kMessages; ++message) {
        it::post_receive(id.get(), message, {memory.sge(message * kSize, kSize)});
    }
    role.peer().give("ready", it::target_of(written));
    for (std::uint64_t message = 0; message < kMessages; ++message) {
        CHECK_EQ(it::expect_success(id->recv_cq, message).byte_len, kSize);
        it::check_filled(memory.bytes().subspan(message * kSize, kSize), message);
    }
    role.peer().await("written");
    it::check_filled(written.bytes(), 77);
    role.peer().signal("checked");
    it::verbs_disconnect(id.get());
}

void client(it::Role& role) {
    const it::CmId id = it::verbs_connect(role);
    const auto target = role.peer().take<it::Target>("ready");
    constexpr unsigned flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
    refuse_too_much(id.get());
    for (std::uint64_t message = 0; message < kMessages; ++message) {
        post_inline(id.get(), it::send_request(IBV_WR_SEND, message, flags), message);
    }
    for (std::uint64_t message = 0; message < kMessages; ++message) {
        it::expect_success(id->send_cq, message);
    }
    post_inline(id.get(), it::rdma_request(IBV_WR_RDMA_WRITE, 50, target, 0, flags), 77);
    it::expect_success(id->send_cq, 50);
    role.peer().signal("written");
    role.peer().await("checked");
    it::verbs_disconnect(id.get());
}
