// SPDX-License-Identifier: BSD-3-Clause
// How the functions of libibverbs are defined here: C linkage, visible, under the names that the
// header's macros hide.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>

// The header defines inline functions and macros of these names in front of the exported ones.
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_get_device_list

#define FABRIC_API extern "C" [[gnu::visibility("default")]]

namespace fabric::verbs {

// For functions that return a pointer: nullptr with errno.
inline std::nullptr_t fail(int error) {
    errno = error;
    return nullptr;
}

}  // namespace fabric::verbs
