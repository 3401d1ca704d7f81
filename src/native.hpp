// SPDX-License-Identifier: BSD-3-Clause
// Native flush and native atomic write. *_native.cpp or *_none.cpp is chosen by CMake, by what
// rdma-core's headers know; with *_none.cpp no QP ever has the operation.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

namespace rpma {

/// One native operation on remote memory.
struct NativeTarget {
    std::uint64_t wr_id;
    unsigned send_flags;  ///< IBV_SEND_*
    std::uint64_t address;
    std::uint32_t rkey;
};

extern const bool kHeadersKnowAtomicWrite;
/// Bit for ibv_qp_init_attr_ex::send_ops_flags.
extern const std::uint64_t kAtomicWriteSendOp;
/// Posts 8 bytes; 0 or an errno value.
int post_native_atomic_write(ibv_qp* qp, const NativeTarget& target, const void* source);

extern const bool kHeadersKnowFlush;
extern const std::uint64_t kFlushSendOps;
/// IBV_ACCESS_* bits that let a region be flushed natively.
extern const int kAccessFlushVisibility;
extern const int kAccessFlushPersistent;
/// Posts a flush of a range; 0 or an errno value.
int post_native_flush(ibv_qp* qp, const NativeTarget& target, std::size_t length, bool persistent);

}  // namespace rpma
