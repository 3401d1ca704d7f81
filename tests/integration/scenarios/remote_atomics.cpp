// SPDX-License-Identifier: BSD-3-Clause
// Compare-and-swap and fetch-and-add from several clients at once: every one is executed exactly
// once, the value before it comes back, and a mismatch changes nothing.
#include <unistd.h>

#include "common/verbs.hpp"

namespace {

constexpr std::uint64_t kRounds = 200;

struct Words {
    std::uint64_t counter;
    std::uint64_t lock;
    std::uint64_t guarded;
};

ibv_send_wr atomic_request(ibv_wr_opcode opcode, const it::Target& target, std::size_t offset,
                           std::uint64_t compare_add, std::uint64_t swap) {
    ibv_send_wr request = it::send_request(opcode, 1);
    request.wr.atomic = {.remote_addr = target.address + offset,
                         .compare_add = compare_add,
                         .swap = swap,
                         .rkey = target.rkey};
    return request;
}

class Remote {
public:
    Remote(rdma_cm_id* id, const it::Target& target)
        : id_(id), target_(target), local_(id, 16, IBV_ACCESS_LOCAL_WRITE) {}

    std::uint64_t fetch_add(std::size_t offset, std::uint64_t value) {
        return run(atomic_request(IBV_WR_ATOMIC_FETCH_AND_ADD, target_, offset, value, 0));
    }
    std::uint64_t compare_swap(std::size_t offset, std::uint64_t compare, std::uint64_t swap) {
        return run(atomic_request(IBV_WR_ATOMIC_CMP_AND_SWP, target_, offset, compare, swap));
    }
    // Adds one by a read and a write, which is only right while no one else does the same.
    void unguarded_increment(std::size_t offset) {
        run(it::rdma_request(IBV_WR_RDMA_READ, 1, target_, offset));
        ++local_.words()[0];
        run(it::rdma_request(IBV_WR_RDMA_WRITE, 1, target_, offset));
    }

private:
    std::uint64_t run(const ibv_send_wr& request) {
        it::post(id_, request, {local_.sge(0, 8)});
        it::expect_success(id_->send_cq, 1);
        return local_.words()[0];
    }

    rdma_cm_id* id_;
    it::Target target_;
    it::VerbsMemory local_;
};

}  // namespace

void server(it::Role& role) {
    const it::CmId listener = it::verbs_listen(role);
    std::vector<it::CmId> ids;
    for (std::size_t count = 0; count < role.peers.size(); ++count) {
        ids.push_back(it::verbs_accept(listener.get()));
    }
    it::VerbsMemory memory(ids.front().get(), sizeof(Words), it::kAllAccess);
    for (it::Sync& client : role.peers) {
        client.give("words", it::target_of(memory));
    }
    for (it::Sync& client : role.peers) {
        client.await("done");
    }
    const std::uint64_t all = kRounds * role.peers.size();
    CHECK_EQ(memory.words()[0], 3 * all);
    CHECK_EQ(memory.words()[1], 0);
    CHECK_EQ(memory.words()[2], all);
    for (const it::CmId& id : ids) {
        it::verbs_disconnect(id.get());
    }
}

void client(it::Role& role) {
    const it::CmId id = it::verbs_connect(role);
    Remote remote(id.get(), role.peer().take<it::Target>("words"));
    const auto me = static_cast<std::uint64_t>(getpid());
    std::uint64_t last = 0;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        const std::uint64_t before = remote.fetch_add(offsetof(Words, counter), 3);
        CHECK(round == 0 || before >= last + 3);
        last = before;
        while (remote.compare_swap(offsetof(Words, lock), 0, me) != 0) {
            it::sleep_ms(0);
        }
        remote.unguarded_increment(offsetof(Words, guarded));
        CHECK_EQ(remote.compare_swap(offsetof(Words, lock), me, 0), me);
    }
    role.peer().signal("done");
    it::verbs_disconnect(id.get());
}
