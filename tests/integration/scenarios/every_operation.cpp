// SPDX-License-Identifier: BSD-3-Clause
// One of each operation that verbs can ask for, in a known order, with known sizes: for who looks
// at the wire (pcap.py has the same list).
#include <arpa/inet.h>

#include "common/pattern.hpp"
#include "common/verbs.hpp"

namespace {

constexpr std::size_t kSpace = 16384;

ibv_send_wr with_immediate(ibv_send_wr request, std::uint32_t immediate) {
    request.imm_data = htonl(immediate);
    return request;
}

ibv_send_wr atomic(ibv_wr_opcode opcode, const it::Target& target) {
    ibv_send_wr request = it::send_request(opcode, 1);
    request.wr.atomic = {
        .remote_addr = target.address, .compare_add = 1, .swap = 2, .rkey = target.rkey};
    return request;
}

// The next begins when this one is done, so that the order on the wire is known.
void run(rdma_cm_id* id, const ibv_send_wr& request, const ibv_sge& sge) {
    it::post(id, request, {sge});
    it::expect_success(id->send_cq, request.wr_id);
}

}  // namespace

void server(it::Role& role) {
    const it::CmId listener = it::verbs_listen(role);
    const it::CmId id = it::verbs_accept(listener.get());
    it::VerbsMemory memory(id.get(), kSpace, it::kAllAccess);
    for (std::uint64_t i = 0; i < 3; ++i)
        it::post_receive(id.get(), i, {memory.sge(8192, 4096)});
    role.peer().give("memory", it::target_of(memory));
    for (std::uint64_t i = 0; i < 3; ++i)
        it::expect_success(id->recv_cq, i);
    role.peer().await("done");
    it::verbs_disconnect(id.get());
}

void client(it::Role& role) {
    const it::CmId id = it::verbs_connect(role);
    it::VerbsMemory local(id.get(), kSpace, it::kAllAccess);
    it::fill(local.bytes(), 1);
    const auto target = role.peer().take<it::Target>("memory");
    run(id.get(), it::send_request(IBV_WR_SEND, 1), local.sge(0, 100));
    run(id.get(), with_immediate(it::send_request(IBV_WR_SEND_WITH_IMM, 1), 0x11223344),
        local.sge(0, 33));
    run(id.get(), it::rdma_request(IBV_WR_RDMA_WRITE, 1, target, 0), local.sge(0, 10000));
    run(id.get(),
        with_immediate(it::rdma_request(IBV_WR_RDMA_WRITE_WITH_IMM, 1, target, 0), 0x55667788),
        local.sge(0, 8));
    run(id.get(), it::rdma_request(IBV_WR_RDMA_READ, 1, target, 0), local.sge(0, 5000));
    run(id.get(), atomic(IBV_WR_ATOMIC_CMP_AND_SWP, target), local.sge(0, 8));
    run(id.get(), atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, target), local.sge(0, 8));
    role.peer().signal("done");
    it::verbs_disconnect(id.get());
}
