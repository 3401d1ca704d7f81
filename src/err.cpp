// SPDX-License-Identifier: BSD-3-Clause
#include "err.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "public.hpp"

namespace rpma {

const char* errno_text(int err, char (&buffer)[kErrnoTextSize]) {
    const char* name = err > 0 ? strerrorname_np(err) : nullptr;
    if (name != nullptr) {
        std::snprintf(buffer, kErrnoTextSize, "%s (%s, errno %d)", strerrordesc_np(err), name, err);
    } else {
        std::snprintf(buffer, kErrnoTextSize, "no known reason (errno %d)", err);
    }
    return buffer;
}

const char* advice_for(int err) {
    switch (err) {
        case EMFILE:
        case ENFILE:
            return "; raise the limit of open files (`ulimit -n`)";
        case EACCES:
        case EPERM:
            return "; this user lacks a right: to /dev/infiniband/*, or to ports below 1024";
        case EADDRINUSE:
            return "; choose another port, or end the program that has this one";
        case EADDRNOTAVAIL:
            return "; use an address of this machine (`ip addr`)";
        case ETIMEDOUT:
        case EHOSTUNREACH:
        case ENETUNREACH:
            return "; is the other machine up, and is there a route to it (`ip route get`)?";
        case EINTR:
            return "; a signal came: call again";
        default:
            return "";
    }
}

bool means_nothing_yet(int err) {
    return err == EAGAIN || err == EWOULDBLOCK || err == ENODATA || err == EINTR;
}

int errno_of(int result) {
    if (result == -1 && errno != 0) {
        return errno;
    }
    return result < 0 ? -result : result;
}

}  // namespace rpma

const char* rpma_err_2str(int ret) {
    switch (ret) {
        case 0:
            return "Success";
        case RPMA_E_NOSUPP:
            return "Not supported";
        case RPMA_E_PROVIDER:
            return "Provider error occurred";
        case RPMA_E_NOMEM:
            return "Out of memory";
        case RPMA_E_INVAL:
            return "Invalid argument";
        case RPMA_E_NO_COMPLETION:
            return "No next completion available";
        case RPMA_E_NO_EVENT:
            return "No next event available";
        case RPMA_E_AGAIN:
            return "Temporary error, try again";
        case RPMA_E_SHARED_CHANNEL:
            return "Completion channel is shared";
        case RPMA_E_NOT_SHARED_CHNL:
            return "Completion channel is not shared";
        default:
            return "Unknown error";
    }
}
