// SPDX-License-Identifier: BSD-3-Clause
#include "peer.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "api.hpp"
#include "native.hpp"

using rpma::Status;

namespace {

struct UsageAccess {
    int usage;
    int access;
    int extra_on_iwarp;  ///< an iWARP read response is a write as far as the adapter is concerned
};

/// A flush usage always allows reading: a peer without native flush flushes by a read.
constexpr UsageAccess kUsageAccess[] = {
    {RPMA_MR_USAGE_READ_SRC, IBV_ACCESS_REMOTE_READ, 0},
    {RPMA_MR_USAGE_READ_DST, IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_WRITE},
    {RPMA_MR_USAGE_WRITE_SRC, IBV_ACCESS_LOCAL_WRITE, 0},
    {RPMA_MR_USAGE_WRITE_DST, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, 0},
    {RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, IBV_ACCESS_REMOTE_READ, 0},
    {RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, IBV_ACCESS_REMOTE_READ, 0},
    {RPMA_MR_USAGE_RECV, IBV_ACCESS_LOCAL_WRITE, 0},
};

int native_flush_access(int usage) {
    return ((usage & RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY) != 0 ? rpma::kAccessFlushVisibility : 0) |
           ((usage & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT) != 0 ? rpma::kAccessFlushPersistent : 0);
}

/// What the memory may be that a device refuses, and what to do then.
void explain_refused_memory(int err, int access, Status& status) {
    if (err == EFAULT) {
        status.append(
            "; the memory must be mapped, and writable unless it is only read from or sent");
    } else if (err == EOPNOTSUPP) {
        status.append(
            "; a file of a DAX file system needs a device with on-demand paging: without it "
            "use device DAX (/dev/dax*), or ordinary memory");
    } else if (err == EINVAL && (access & rpma::kAccessFlushPersistent) != 0) {
        status.append(
            "; RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT was asked for: the device may not take this "
            "memory for persistent memory; without that usage it can be flushed for visibility");
    }
}

Status registration_failure(int err, std::size_t size, int access) {
    Status status = Status::system(RPMA_E_PROVIDER, err, "ibv_reg_mr of %zu bytes failed", size);
    explain_refused_memory(err, access, status);
    rlimit limit = {};
    if (err == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY) {
        status.append(
            "; registered memory is locked, and the limit of locked memory is %llu bytes "
            "for this process: raise it (`ulimit -l`, /etc/security/limits.conf)",
            static_cast<unsigned long long>(limit.rlim_cur));
    }
    return status;
}

std::size_t page_size() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Status rpma_peer::open(ibv_context* context, rpma::Owned<rpma_peer>& out) {
    rpma::Owned<rpma_peer> peer(rpma::create<rpma_peer>());
    if (peer == nullptr) {
        return Status::out_of_memory();
    }
    const Status queried = rpma::query_capabilities(context, peer->capabilities_);
    if (!queried.ok()) {
        return queried;
    }
    errno = 0;
    peer->pd_ = rpma::Pd(ibv_alloc_pd(context));
    if (!peer->pd_) {
        const int err = errno;
        const int code =
            err == ENOMEM ? RPMA_E_NOMEM : (err == 0 ? RPMA_E_UNKNOWN : RPMA_E_PROVIDER);
        return Status::system(code, err, "ibv_alloc_pd failed");
    }
    out = std::move(peer);
    return {};
}

int rpma_peer::access_of(int usage) const {
    int access = 0;
    for (const UsageAccess& row : kUsageAccess) {
        if ((usage & row.usage) != 0) {
            access |= row.access | (capabilities_.iwarp ? row.extra_on_iwarp : 0);
        }
    }
    return capabilities_.flush ? access | native_flush_access(usage) : access;
}

Status rpma_peer::register_memory(void* start, std::size_t size, int access, rpma::Mr& out) {
    errno = 0;
    // In parentheses: the function, not the macro, which serves optional access flags only.
    ibv_mr* mr = (ibv_reg_mr)(pd(), start, size, access);
    if (mr == nullptr && errno == EOPNOTSUPP && capabilities_.odp) {
        // Memory of a DAX file system cannot be pinned.
        mr = (ibv_reg_mr)(pd(), start, size, access | IBV_ACCESS_ON_DEMAND);
    }
    if (mr == nullptr) {
        return registration_failure(errno, size, access);
    }
    out = rpma::Mr(mr);
    return {};
}

Status rpma_peer::make_flush_buffer() {
    // A page of its own: after ibv_fork_init() registered pages are missing in a child process.
    void* page =
        mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return Status::system(RPMA_E_NOMEM, errno, "mmap of a page for flushing failed");
    }
    const Status status = register_memory(page, rpma::FlushBuffer::kSize,
                                          access_of(RPMA_MR_USAGE_READ_DST), flush_mr_);
    if (!status.ok()) {
        (void)munmap(page, page_size());
        return status;
    }
    flush_page_ = page;
    return {};
}

Status rpma_peer::flush_buffer(rpma::FlushBuffer& out) {
    const rpma::Guard guard(flush_mutex_);
    if (!flush_mr_) {
        const Status status = make_flush_buffer();
        if (!status.ok()) {
            return status;
        }
    }
    out.address = reinterpret_cast<std::uintptr_t>(flush_page_);
    out.lkey = flush_mr_->lkey;
    return {};
}

Status rpma_peer::close() {
    Status status = flush_mr_.close();
    if (flush_page_ != nullptr && munmap(flush_page_, page_size()) != 0) {
        status.keep_first(
            Status::system(RPMA_E_PROVIDER, errno, "munmap of the flush page failed"));
    }
    flush_page_ = nullptr;
    status.keep_first(pd_.close());
    return status;
}

int rpma_peer_new(struct ibv_context* ibv_ctx, struct rpma_peer** peer_ptr) {
    if (const int bad = rpma::refuse_null({{"ibv_ctx", ibv_ctx}, {"peer_ptr", peer_ptr}})) {
        return bad;
    }
    rpma::Owned<rpma_peer> peer;
    const Status status = rpma_peer::open(ibv_ctx, peer);
    if (status.ok()) {
        const rpma::Capabilities& can = peer->capabilities();
        rpma::log_line(rpma::Where::here(), rpma::Origin::setup, RPMA_LOG_LEVEL_INFO,
                       "on-demand paging: %d, native atomic write: %d, native flush: %d", can.odp,
                       can.atomic_write, can.flush);
        *peer_ptr = peer.release();
    }
    return rpma::finish(status);
}

int rpma_peer_delete(struct rpma_peer** peer_ptr) {
    if (const int bad = rpma::refuse_null({{"peer_ptr", peer_ptr}})) {
        return bad;
    }
    return rpma::finish(rpma::unref(std::exchange(*peer_ptr, nullptr)));
}
