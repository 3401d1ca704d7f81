// SPDX-License-Identifier: BSD-3-Clause
// The same without librpma: connections made by librdmacm, work requests posted by verbs. For what
// the C API of librpma does not reach: atomics, fences, solicited events, gather lists, inline
// data, and operations that are wrong on purpose.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "common/role.hpp"

namespace it {

// An id with its QP, PD and two CQs, all made by rdma_create_ep.
struct DestroyEp {
    void operator()(rdma_cm_id* id) const { rdma_destroy_ep(id); }
};
using CmId = std::unique_ptr<rdma_cm_id, DestroyEp>;

ibv_qp_init_attr queue_sizes(std::uint32_t entries = 32, std::uint32_t sges = 4,
                             std::uint32_t inline_bytes = 64);

// Listens and tells every client.
CmId verbs_listen(Role& role);
// Takes the next request and accepts it.
CmId verbs_accept(rdma_cm_id* listener);
// Waits for the server to listen, then connects.
CmId verbs_connect(Role& role);
void verbs_disconnect(rdma_cm_id* id);

// Memory that the program owns, registered with the id's protection domain.
class VerbsMemory {
public:
    VerbsMemory(rdma_cm_id* id, std::size_t size, int access);

    std::span<std::byte> bytes() { return bytes_; }
    std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(bytes_.data()); }
    ibv_sge sge(std::size_t offset, std::size_t size) const;
    std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(bytes_.data()); }
    ibv_mr* mr() const { return mr_.get(); }
    void deregister() { mr_.reset(); }

private:
    struct Dereg {
        void operator()(ibv_mr* mr) const;
    };
    std::vector<std::byte> bytes_;
    std::unique_ptr<ibv_mr, Dereg> mr_;
};

inline constexpr int kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

// What the other side needs to reach memory.
struct Target {
    std::uint64_t address;
    std::uint32_t rkey;
    std::uint32_t size;
};
Target target_of(const VerbsMemory& memory);

// Work requests; the caller posts them.
ibv_send_wr send_request(ibv_wr_opcode opcode, std::uint64_t wr_id,
                         unsigned flags = IBV_SEND_SIGNALED);
ibv_send_wr rdma_request(ibv_wr_opcode opcode, std::uint64_t wr_id, const Target& target,
                         std::uint64_t offset, unsigned flags = IBV_SEND_SIGNALED);
// Posts it with these SGEs; fails unless the post is taken.
void post(rdma_cm_id* id, ibv_send_wr request, std::initializer_list<ibv_sge> sges);
void post_receive(rdma_cm_id* id, std::uint64_t wr_id, std::initializer_list<ibv_sge> sges);

ibv_wc poll_one(ibv_cq* cq, const Deadline& deadline = Deadline());
ibv_wc expect_status(ibv_cq* cq, std::uint64_t wr_id, ibv_wc_status status);
ibv_wc expect_success(ibv_cq* cq, std::uint64_t wr_id);

}  // namespace it
