// SPDX-License-Identifier: BSD-3-Clause
#include "data_path_checks.hpp"

#include <cerrno>

#include "api.hpp"
#include "conn.hpp"
#include "err.hpp"
#include "mr.hpp"

namespace rpma {

namespace {

int refuse(const Where& where, const Status& status) {
    return finish(status, where, Origin::data_path);
}

int check_flags(int flags, const Where& where) {
    return flags != 0 ? 0
                      : refuse(where, Status::failure(RPMA_E_INVAL,
                                                      "flags must not be 0: choose "
                                                      "RPMA_F_COMPLETION_ON_ERROR or _ALWAYS"));
}

int check_length(std::size_t length, const Where& where) {
    return length <= std::numeric_limits<std::uint32_t>::max()
               ? 0
               : refuse(where,
                        Status::failure(RPMA_E_INVAL,
                                        "length %zu: one operation moves less than 4 GiB", length));
}

int check_range(const char* side, std::uint64_t size, std::size_t offset, std::size_t length,
                const Where& where) {
    return inside(size, offset, length)
               ? 0
               : refuse(where,
                        Status::failure(RPMA_E_INVAL,
                                        "offset %zu and length %zu do not lie inside the %s "
                                        "region of %zu bytes",
                                        offset, length, side, static_cast<std::size_t>(size)));
}

/// missing: the usage that a registration for this purpose has.
int check_usage(const char* side, bool allowed, int usage, const char* purpose, const char* missing,
                const Where& where) {
    return allowed ? 0
                   : refuse(where,
                            Status::failure(RPMA_E_INVAL,
                                            "the %s region (usage 0x%x) was not registered to be "
                                            "%s: add %s",
                                            side, static_cast<unsigned>(usage), purpose, missing));
}

bool is_iwarp(const rpma_conn* conn) {
    return conn->link->peer()->capabilities().iwarp;
}

int check_writable(const rpma_conn* conn, const rpma_mr_remote& region, const Where& where) {
    return check_usage("remote", can_be_written_remotely(region.usage, is_iwarp(conn)),
                       region.usage, "written to", "RPMA_MR_USAGE_WRITE_DST", where);
}

/// The first code that is not 0.
int first_of(std::initializer_list<int (*)(const RdmaArguments&, const Where&)> checks,
             const RdmaArguments& arguments, const Where& where) {
    for (const auto check : checks) {
        if (const int bad = check(arguments, where)) {
            return bad;
        }
    }
    return 0;
}

int check_rdma_pointers(const RdmaArguments& a, const Where& where) {
    if (const int bad = refuse_null({{"conn", a.conn}}, where, Origin::data_path)) {
        return bad;
    }
    const bool empty = a.local_offset == 0 && a.remote_offset == 0 && a.length == 0;
    if ((a.local == nullptr) == (a.remote == nullptr) && (a.local != nullptr || empty)) {
        return 0;
    }
    return refuse(where, Status::failure(RPMA_E_INVAL,
                                         "src and dst must both be given, or both be NULL with "
                                         "offsets and length 0"));
}

int check_rdma_flags(const RdmaArguments& a, const Where& where) {
    return check_flags(a.flags, where);
}

int check_rdma_length(const RdmaArguments& a, const Where& where) {
    return check_length(a.length, where);
}

int check_rdma_ranges(const RdmaArguments& a, const Where& where) {
    if (a.local == nullptr) {
        return 0;
    }
    const int bad = check_range("local", a.local->size, a.local_offset, a.length, where);
    return bad != 0 ? bad : check_range("remote", a.remote->size, a.remote_offset, a.length, where);
}

int check_rdma_usage(const RdmaArguments& a, const Where& where) {
    if (a.local == nullptr || a.length == 0) {
        return 0;
    }
    if (a.opcode != IBV_WR_RDMA_READ) {
        return check_writable(a.conn, *a.remote, where);
    }
    const int bad =
        check_usage("local", takes_reads(a.local->usage, is_iwarp(a.conn)), a.local->usage,
                    "the destination of a read", "RPMA_MR_USAGE_READ_DST", where);
    return bad != 0 ? bad
                    : check_usage("remote", can_be_read_remotely(a.remote->usage), a.remote->usage,
                                  "read from", "RPMA_MR_USAGE_READ_SRC", where);
}

int check_message(const MessageArguments& message, const Where& where) {
    if (message.region != nullptr) {
        const int bad = check_length(message.length, where);
        return bad != 0 ? bad
                        : check_range("local", message.region->size, message.offset, message.length,
                                      where);
    }
    if (message.offset == 0 && message.length == 0) {
        return 0;
    }
    return refuse(where,
                  Status::failure(RPMA_E_INVAL, "without a region offset and length must be 0"));
}

}  // namespace

int check_rdma(const RdmaArguments& arguments, const Where& where) {
    return first_of({check_rdma_pointers, check_rdma_flags, check_rdma_length, check_rdma_ranges,
                     check_rdma_usage},
                    arguments, where);
}

int check_send(const rpma_conn* conn, const MessageArguments& message, int flags,
               const Where& where) {
    if (const int bad = refuse_null({{"conn", conn}}, where, Origin::data_path)) {
        return bad;
    }
    const int bad = check_flags(flags, where);
    return bad != 0 ? bad : check_message(message, where);
}

int check_recv(const char* owner_name, const void* owner, const MessageArguments& message,
               const Where& where) {
    const int bad = refuse_null({{owner_name, owner}}, where, Origin::data_path);
    return bad != 0 ? bad : check_message(message, where);
}

int check_atomic_write(const RemoteArguments& a, const void* src, const Where& where) {
    if (const int bad = refuse_null({{"conn", a.conn}, {"dst", a.remote}, {"src", src}}, where,
                                    Origin::data_path)) {
        return bad;
    }
    if (const int bad = check_flags(a.flags, where)) {
        return bad;
    }
    if (const int bad = check_range("remote", a.remote->size, a.offset, a.length, where)) {
        return bad;
    }
    const std::uint64_t address = a.remote->address + a.offset;
    if (a.offset % RPMA_ATOMIC_WRITE_ALIGNMENT != 0 || address % RPMA_ATOMIC_WRITE_ALIGNMENT != 0) {
        return refuse(where, Status::failure(RPMA_E_INVAL,
                                             "offset %zu, remote address 0x%llx: both must be "
                                             "multiples of %d",
                                             a.offset, static_cast<unsigned long long>(address),
                                             RPMA_ATOMIC_WRITE_ALIGNMENT));
    }
    return check_writable(a.conn, *a.remote, where);
}

int check_flush(const RemoteArguments& a, rpma_flush_type type, const Where& where) {
    if (const int bad =
            refuse_null({{"conn", a.conn}, {"dst", a.remote}}, where, Origin::data_path)) {
        return bad;
    }
    if (const int bad = check_flags(a.flags, where)) {
        return bad;
    }
    if (type != RPMA_FLUSH_TYPE_PERSISTENT && type != RPMA_FLUSH_TYPE_VISIBILITY) {
        return refuse(where, Status::failure(RPMA_E_INVAL, "flush type %d is unknown",
                                             static_cast<int>(type)));
    }
    const bool persistent = type == RPMA_FLUSH_TYPE_PERSISTENT;
    const unsigned bit = 1U << type;
    if ((a.conn->allowed_flushes.load(std::memory_order_relaxed) & bit) == 0) {
        return refuse(where,
                      Status::failure(RPMA_E_NOSUPP,
                                      "the other side has not declared direct write to "
                                      "persistent memory: exchange peer descriptors and call "
                                      "rpma_conn_apply_remote_peer_cfg()"));
    }
    if ((a.remote->flush_types & bit) == 0) {
        return refuse(where,
                      Status::failure(RPMA_E_NOSUPP,
                                      "the remote region (usage 0x%x) was not registered for "
                                      "flushes of this type: add %s",
                                      static_cast<unsigned>(a.remote->usage),
                                      persistent ? "RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT"
                                                 : "RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY"));
    }
    return check_range("remote", a.remote->size, a.offset, a.length, where);
}

int post_failure(int result, const char* verb, std::uint64_t wr_id, std::size_t bytes,
                 const Where& where) {
    if (result == kReceivesAreShared) {
        return refuse(where, Status::system(RPMA_E_PROVIDER, EINVAL,
                                            "the connection has a shared receive queue, to which "
                                            "rpma_srq_recv() posts; wr_id 0x%llx",
                                            static_cast<unsigned long long>(wr_id)));
    }
    const int err = errno_of(result);
    const bool full = err == ENOMEM || err == EAGAIN;
    char reason[kErrnoTextSize];
    // A full queue is an everyday matter and must not fill logs.
    log_line(where, Origin::data_path, full ? RPMA_LOG_LEVEL_DEBUG : RPMA_LOG_LEVEL_ERROR,
             "%s of %zu bytes, wr_id 0x%llx, failed: %s; %s", verb, bytes,
             static_cast<unsigned long long>(wr_id), errno_text(err, reason),
             full ? "the queue is full: collect completions, then try again"
                  : "the connection may be broken: see rpma_conn_next_event()");
    errno = err;
    return full ? RPMA_E_AGAIN : RPMA_E_PROVIDER;
}

}  // namespace rpma
