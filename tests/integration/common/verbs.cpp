// SPDX-License-Identifier: BSD-3-Clause
#include "common/verbs.hpp"

#include <fcntl.h>

#include "common/check.hpp"
#include "common/deadline.hpp"

namespace it {
namespace {

struct FreeInfo {
    void operator()(rdma_addrinfo* info) const { rdma_freeaddrinfo(info); }
};
using AddrInfo = std::unique_ptr<rdma_addrinfo, FreeInfo>;

AddrInfo look_up(const Role& role, int flags) {
    rdma_addrinfo hints{};
    hints.ai_flags = flags;
    hints.ai_port_space = RDMA_PS_TCP;
    rdma_addrinfo* info = nullptr;
    CHECK(rdma_getaddrinfo(role.address.c_str(), role.port.c_str(), &hints, &info) == 0);
    return AddrInfo(info);
}

rdma_conn_param parameters() {
    rdma_conn_param param{};
    param.responder_resources = RDMA_MAX_RESP_RES;
    param.initiator_depth = RDMA_MAX_INIT_DEPTH;
    param.flow_control = 1;
    param.retry_count = 7;
    param.rnr_retry_count = 7;
    return param;
}

}  // namespace

ibv_qp_init_attr queue_sizes(std::uint32_t entries, std::uint32_t sges,
                             std::uint32_t inline_bytes) {
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_RC;
    attr.cap = {.max_send_wr = entries,
                .max_recv_wr = entries,
                .max_send_sge = sges,
                .max_recv_sge = sges,
                .max_inline_data = inline_bytes};
    return attr;
}

CmId verbs_listen(Role& role) {
    const AddrInfo info = look_up(role, RAI_PASSIVE);
    ibv_qp_init_attr attr = queue_sizes();
    rdma_cm_id* id = nullptr;
    CHECK(rdma_create_ep(&id, info.get(), nullptr, &attr) == 0);
    CHECK(rdma_listen(id, 64) == 0);
    for (Sync& client : role.peers) {
        client.signal("listening");
    }
    return CmId(id);
}

CmId verbs_accept(rdma_cm_id* listener) {
    if (!wait_readable(listener->channel->fd, Deadline())) {
        FAIL("no connection request in time");
    }
    rdma_cm_id* id = nullptr;
    CHECK(rdma_get_request(listener, &id) == 0);
    rdma_conn_param param = parameters();
    CHECK(rdma_accept(id, &param) == 0);
    return CmId(id);
}

CmId verbs_connect(Role& role) {
    role.peer().await("listening");
    const AddrInfo info = look_up(role, 0);
    ibv_qp_init_attr attr = queue_sizes();
    rdma_cm_id* id = nullptr;
    CHECK(rdma_create_ep(&id, info.get(), nullptr, &attr) == 0);
    rdma_conn_param param = parameters();
    CHECK(rdma_connect(id, &param) == 0);
    return CmId(id);
}

void verbs_disconnect(rdma_cm_id* id) {
    CHECK(rdma_disconnect(id) == 0);
}

void VerbsMemory::Dereg::operator()(ibv_mr* mr) const {
    CHECK(ibv_dereg_mr(mr) == 0);
}

namespace {

// The macro ibv_reg_mr mixes signed and unsigned flags; a function of its own keeps the warning in
// one place.
ibv_mr* reg_memory(ibv_pd* pd, std::span<std::byte> memory, int access) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
    return ibv_reg_mr(pd, memory.data(), memory.size(), access);
#pragma GCC diagnostic pop
}

}  // namespace

VerbsMemory::VerbsMemory(rdma_cm_id* id, std::size_t size, int access)
    : bytes_(size), mr_(reg_memory(id->pd, bytes_, access)) {
    CHECK(mr_ != nullptr);
}

ibv_sge VerbsMemory::sge(std::size_t offset, std::size_t size) const {
    return {
        .addr = address() + offset, .length = static_cast<std::uint32_t>(size), .lkey = mr_->lkey};
}

Target target_of(const VerbsMemory& memory) {
    return {.address = memory.address(),
            .rkey = memory.mr()->rkey,
            .size = static_cast<std::uint32_t>(memory.mr()->length)};
}

ibv_send_wr send_request(ibv_wr_opcode opcode, std::uint64_t wr_id, unsigned flags) {
    ibv_send_wr request{};
    request.wr_id = wr_id;
    request.opcode = opcode;
    request.send_flags = flags;
    return request;
}

ibv_send_wr rdma_request(ibv_wr_opcode opcode, std::uint64_t wr_id, const Target& target,
                         std::uint64_t offset, unsigned flags) {
    ibv_send_wr request = send_request(opcode, wr_id, flags);
    request.wr.rdma.remote_addr = target.address + offset;
    request.wr.rdma.rkey = target.rkey;
    return request;
}

void post(rdma_cm_id* id, ibv_send_wr request, std::initializer_list<ibv_sge> sges) {
    std::vector<ibv_sge> list(sges);
    request.sg_list = list.data();
    request.num_sge = static_cast<int>(list.size());
    ibv_send_wr* bad = nullptr;
    CHECK_EQ(ibv_post_send(id->qp, &request, &bad), 0);
}

void post_receive(rdma_cm_id* id, std::uint64_t wr_id, std::initializer_list<ibv_sge> sges) {
    std::vector<ibv_sge> list(sges);
    ibv_recv_wr request{.wr_id = wr_id,
                        .next = nullptr,
                        .sg_list = list.data(),
                        .num_sge = static_cast<int>(list.size())};
    ibv_recv_wr* bad = nullptr;
    CHECK_EQ(ibv_post_recv(id->qp, &request, &bad), 0);
}

ibv_wc poll_one(ibv_cq* cq, const Deadline& deadline) {
    ibv_wc wc{};
    int got = ibv_poll_cq(cq, 1, &wc);
    while (got == 0) {
        if (deadline.passed()) {
            FAIL("no completion in time");
        }
        sleep_ms(1);
        got = ibv_poll_cq(cq, 1, &wc);
    }
    CHECK_EQ(got, 1);
    return wc;
}

ibv_wc expect_status(ibv_cq* cq, std::uint64_t wr_id, ibv_wc_status status) {
    const ibv_wc wc = poll_one(cq);
    if (wc.wr_id != wr_id || wc.status != status) {
        FAIL("completion of %llu with '%s', expected %llu with '%s'",
             static_cast<unsigned long long>(wc.wr_id), ibv_wc_status_str(wc.status),
             static_cast<unsigned long long>(wr_id), ibv_wc_status_str(status));
    }
    return wc;
}

ibv_wc expect_success(ibv_cq* cq, std::uint64_t wr_id) {
    return expect_status(cq, wr_id, IBV_WC_SUCCESS);
}

}  // namespace it
