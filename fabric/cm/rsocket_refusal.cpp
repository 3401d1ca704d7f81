// SPDX-License-Identifier: BSD-3-Clause
// rsockets work on private parts of librdmacm's own ids, which are not there when these functions
// are answered by the fabric. Every call is refused, and the reason is logged once.
#include <rdma/rsocket.h>

#include <atomic>

#include "cm/api.hpp"
#include "log.hpp"

namespace {

int refuse(const char* function) {
    static std::atomic<bool> told{false};
    if (!told.exchange(true))
        fabric::log(fabric::LogLevel::Error,
                    "%s: rsockets are not available under the fabric (they use private parts of "
                    "librdmacm); use sockets, or librdmacm's functions",
                    function);
    errno = EOPNOTSUPP;
    return -1;
}

}  // namespace

RDMACM_API int rsocket(int, int, int) {
    return refuse(__func__);
}

RDMACM_API int rbind(int, const sockaddr*, socklen_t) {
    return refuse(__func__);
}

RDMACM_API int rlisten(int, int) {
    return refuse(__func__);
}

RDMACM_API int raccept(int, sockaddr*, socklen_t*) {
    return refuse(__func__);
}

RDMACM_API int rconnect(int, const sockaddr*, socklen_t) {
    return refuse(__func__);
}

RDMACM_API int rshutdown(int, int) {
    return refuse(__func__);
}

RDMACM_API int rclose(int) {
    return refuse(__func__);
}

RDMACM_API ssize_t rrecv(int, void*, size_t, int) {
    return refuse(__func__);
}

RDMACM_API ssize_t rrecvfrom(int, void*, size_t, int, sockaddr*, socklen_t*) {
    return refuse(__func__);
}

RDMACM_API ssize_t rrecvmsg(int, msghdr*, int) {
    return refuse(__func__);
}

RDMACM_API ssize_t rsend(int, const void*, size_t, int) {
    return refuse(__func__);
}

RDMACM_API ssize_t rsendto(int, const void*, size_t, int, const sockaddr*, socklen_t) {
    return refuse(__func__);
}

RDMACM_API ssize_t rsendmsg(int, const msghdr*, int) {
    return refuse(__func__);
}

RDMACM_API ssize_t rread(int, void*, size_t) {
    return refuse(__func__);
}

RDMACM_API ssize_t rreadv(int, const iovec*, int) {
    return refuse(__func__);
}

RDMACM_API ssize_t rwrite(int, const void*, size_t) {
    return refuse(__func__);
}

RDMACM_API ssize_t rwritev(int, const iovec*, int) {
    return refuse(__func__);
}

RDMACM_API int rpoll(pollfd*, nfds_t, int) {
    return refuse(__func__);
}

RDMACM_API int rselect(int, fd_set*, fd_set*, fd_set*, timeval*) {
    return refuse(__func__);
}

RDMACM_API int rgetpeername(int, sockaddr*, socklen_t*) {
    return refuse(__func__);
}

RDMACM_API int rgetsockname(int, sockaddr*, socklen_t*) {
    return refuse(__func__);
}

RDMACM_API int rsetsockopt(int, int, int, const void*, socklen_t) {
    return refuse(__func__);
}

RDMACM_API int rgetsockopt(int, int, int, void*, socklen_t*) {
    return refuse(__func__);
}

RDMACM_API int rfcntl(int, int, ...) {
    return refuse(__func__);
}

RDMACM_API off_t riomap(int, void*, size_t, int, int, off_t) {
    return refuse(__func__);
}

RDMACM_API int riounmap(int, void*, size_t) {
    return refuse(__func__);
}

// Has no way to say -1: its result counts bytes.
RDMACM_API size_t riowrite(int, const void*, size_t, off_t, int) {
    return static_cast<size_t>(refuse(__func__));
}
