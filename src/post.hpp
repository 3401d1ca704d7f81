// SPDX-License-Identifier: BSD-3-Clause
// The fast path of posting: range check, filling a work request, the verb. Only the fields that the
// verb reads are filled; zeroing all 128 bytes of a work request costs more than the rest together.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#include "data_path_checks.hpp"
#include "hints.hpp"
#include "mr.hpp"

namespace rpma {

/// Whether the range ends within a fast limit (mr.hpp). Implies a length of 32 bits.
RPMA_INLINE bool fits(std::uint64_t limit, std::size_t offset, std::size_t length) {
    std::uint64_t end = 0;
    return !__builtin_add_overflow(offset, length, &end) && end <= limit;
}

/// RPMA_F_COMPLETION_ALWAYS minus RPMA_F_COMPLETION_ON_ERROR is the bit of IBV_SEND_SIGNALED.
RPMA_INLINE unsigned signaled(int flags) {
    static_assert((RPMA_F_COMPLETION_ALWAYS & ~RPMA_F_COMPLETION_ON_ERROR) == IBV_SEND_SIGNALED);
    return static_cast<unsigned>(flags) & IBV_SEND_SIGNALED;
}

RPMA_INLINE std::uint64_t wr_id_of(const void* op_context) {
    return reinterpret_cast<std::uintptr_t>(op_context);
}

/// A work request with its one scatter-gather element.
struct SendRequest {
    ibv_sge sge;
    ibv_send_wr wr;

    RPMA_INLINE void set(ibv_wr_opcode opcode, unsigned send_flags, const void* op_context) {
        wr.wr_id = wr_id_of(op_context);
        wr.next = nullptr;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.opcode = opcode;
        wr.send_flags = send_flags;
    }
    RPMA_INLINE void set_local(const rpma_mr_local* region, std::size_t offset, std::size_t length) {
        sge.addr = region->address + offset;
        sge.length = static_cast<std::uint32_t>(length);
        sge.lkey = region->lkey;
    }
    /// The local side of an operation without regions.
    void set_no_local() {
        wr.sg_list = nullptr;
        wr.num_sge = 0;
    }
    RPMA_INLINE void set_remote(const rpma_mr_remote* region, std::size_t offset) {
        wr.wr.rdma.remote_addr = region->address + offset;
        wr.wr.rdma.rkey = region->rkey;
    }
};

/// where by value: it then costs nothing unless the post fails.
RPMA_INLINE int post(ibv_qp* qp, SendRequest& request, Where where) {
    ibv_send_wr* bad;  // NOLINT(cppcoreguidelines-init-variables): set by the verb, never read
    const int result = ibv_post_send(qp, &request.wr, &bad);
    return RPMA_LIKELY(result == 0) ? 0 : send_failure(result, request.wr, where);
}

}  // namespace rpma
