// SPDX-License-Identifier: BSD-3-Clause
// The function pointers of ibv_cq_ex.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace fabric::verbs {

// What may be asked for in ibv_cq_init_attr_ex::wc_flags.
inline constexpr std::uint64_t kReadableWcFields = std::uint64_t{IBV_WC_STANDARD_FLAGS} |
                                                   IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
                                                   IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;

void fill_cq_functions(ibv_cq_ex& cq);

}  // namespace fabric::verbs
