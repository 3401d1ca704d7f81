// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "public.hpp"

/// How a shared receive queue is to be made.
struct rpma_srq_cfg {
    static constexpr std::uint32_t kDefaultSize = 20;

    std::atomic<std::uint32_t> rq_size{kDefaultSize};
    std::atomic<std::uint32_t> rcq_size{kDefaultSize};  ///< 0: no receive CQ
};
