// SPDX-License-Identifier: BSD-3-Clause
// The precise checks of the data path. The fast path passes on whatever is not plainly right: bad
// arguments, which are explained here, but also zero-byte operations and ranges beyond 4 GiB, which
// are fine. All of them return 0 or the error code, after the log line.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#include "hints.hpp"
#include "log.hpp"
#include "public.hpp"

namespace rpma {

/// Arguments of a read or write.
struct RdmaArguments {
    ibv_wr_opcode opcode;
    const rpma_conn* conn;
    const rpma_mr_local* local;
    std::size_t local_offset;
    const rpma_mr_remote* remote;
    std::size_t remote_offset;
    std::size_t length;
    int flags;
    std::uint32_t imm;
    const void* op_context;
};

/// The local part of a send or receive.
struct MessageArguments {
    const rpma_mr_local* region;
    std::size_t offset;
    std::size_t length;
    const void* op_context;
};

/// Arguments of a flush or, with RPMA_ATOMIC_WRITE_ALIGNMENT for length, of an atomic write.
struct RemoteArguments {
    const rpma_conn* conn;
    const rpma_mr_remote* remote;
    std::size_t offset;
    std::size_t length;
    int flags;
    const void* op_context;
};

RPMA_COLD int check_rdma(const RdmaArguments& arguments, const Where& where);
RPMA_COLD int check_send(const rpma_conn* conn, const MessageArguments& message, int flags,
                         const Where& where);
/// owner: what the receive is posted to, with the name of that argument.
RPMA_COLD int check_recv(const char* owner_name, const void* owner, const MessageArguments& message,
                         const Where& where);
RPMA_COLD int check_atomic_write(const RemoteArguments& arguments, const void* src,
                                 const Where& where);
RPMA_COLD int check_flush(const RemoteArguments& arguments, rpma_flush_type type,
                          const Where& where);

/// For a post that the provider refused: RPMA_E_AGAIN for a full queue, else RPMA_E_PROVIDER.
RPMA_COLD int post_failure(int result, const char* verb, std::uint64_t wr_id, std::size_t bytes,
                           const Where& where);

}  // namespace rpma
