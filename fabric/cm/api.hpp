// SPDX-License-Identifier: BSD-3-Clause
// How the functions of librdmacm's interface are written here: marked, checked, then passed to the
// C++ core, whose functions give 0 or an errno value.
#pragma once

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <cerrno>

#define RDMACM_API extern "C" __attribute__((visibility("default")))

namespace fabric::cm {

// The convention of librdmacm: 0, or -1 with errno set.
inline int result(int error) {
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

}  // namespace fabric::cm
