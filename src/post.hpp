// SPDX-License-Identifier: BSD-3-Clause
// The fast path of posting: range check, filling a work request, the verb. Only the fields that the
// verb reads are filled; zeroing all 128 bytes of a work request costs more than the rest together.
#pragma once

#include <infiniband/verbs.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "arithmetic.hpp"
#include "data_path_checks.hpp"
#include "hints.hpp"
#include "mr.hpp"

namespace rpma {

/// Whether the range ends within a fast limit (mr.hpp). Implies a length of 32 bits.
RPMA_INLINE bool fits(std::uint64_t limit, std::size_t offset, std::size_t length) {
    if (RPMA_UNLIKELY(subtract(limit, offset))) {
        return false;
    }
    return RPMA_LIKELY(length <= limit);
}

/// RPMA_F_COMPLETION_ALWAYS minus RPMA_F_COMPLETION_ON_ERROR is the bit of IBV_SEND_SIGNALED.
RPMA_INLINE unsigned signaled(int flags) {
    static_assert((RPMA_F_COMPLETION_ALWAYS & ~RPMA_F_COMPLETION_ON_ERROR) == IBV_SEND_SIGNALED);
    return static_cast<unsigned>(flags) & IBV_SEND_SIGNALED;
}

RPMA_INLINE std::uint64_t wr_id_of(const void* op_context) {
    return reinterpret_cast<std::uintptr_t>(op_context);
}

/// length: below 4 GiB, which fits() and the precise checks see to.
RPMA_INLINE void fill(ibv_sge& sge, const rpma_mr_local* region, std::size_t offset,
                      std::uint64_t length) {
    sge.addr = region->address + offset;
    if constexpr (std::endian::native == std::endian::little) {
        // Length and lkey in one store.
        static_assert(offsetof(ibv_sge, length) == 8 && offsetof(ibv_sge, lkey) == 12);
        const std::uint64_t both = length | region->lkey_high;
        std::memcpy(reinterpret_cast<char*>(&sge) + offsetof(ibv_sge, length), &both, sizeof(both));
    } else {
        sge.length = static_cast<std::uint32_t>(length);
        sge.lkey = region->mr->lkey;
    }
}

/// The first two fields of a work request, of either kind: whose it is, and that no other follows.
template <typename WorkRequest>
RPMA_INLINE void set_id(WorkRequest& wr, const void* op_context) {
    static_assert(offsetof(WorkRequest, wr_id) == 0 && offsetof(WorkRequest, next) == 8 &&
                  offsetof(WorkRequest, sg_list) == 16);
    store_words(&wr, Words{wr_id_of(op_context), 0});
}

/// A work request with its one scatter-gather element.
struct SendRequest {
    ibv_sge sge;
    ibv_send_wr wr;
    ibv_send_wr* bad;  ///< set by the verb, never read

    RPMA_INLINE void set(ibv_wr_opcode opcode, unsigned send_flags, const void* op_context) {
        set_id(wr, op_context);
        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.opcode = opcode;
        wr.send_flags = send_flags;
    }
    RPMA_INLINE void set_local(const rpma_mr_local* region, std::size_t offset,
                               std::size_t length) {
        fill(sge, region, offset, length);
    }
    /// The local side of an operation without regions.
    void set_no_local() {
        wr.sg_list = nullptr;
        wr.num_sge = 0;
    }
    RPMA_INLINE void set_remote(const rpma_mr_remote* region, std::size_t offset) {
        // Address and rkey together; the word behind the rkey is padding.
        static_assert(
            offsetof(rpma_mr_remote, address) == 0 && offsetof(rpma_mr_remote, rkey) == 8 &&
            offsetof(ibv_send_wr, wr.rdma.rkey) == offsetof(ibv_send_wr, wr.rdma.remote_addr) + 8);
        store_words(reinterpret_cast<char*>(&wr) + offsetof(ibv_send_wr, wr.rdma.remote_addr),
                    load_words(region) + Words{offset, 0});
    }
};

RPMA_INLINE int post(ibv_qp* qp, SendRequest& request, const Where& where) {
    const int result = ibv_post_send(qp, &request.wr, &request.bad);
    return RPMA_LIKELY(result == 0)
               ? 0
               : post_failure(result, "ibv_post_send", request.wr.wr_id,
                              request.wr.num_sge != 0 ? request.sge.length : 0, where);
}

}  // namespace rpma
