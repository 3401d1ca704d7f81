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
