// SPDX-License-Identifier: BSD-3-Clause
// The attributes of a queue pair as programs set and query them.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "rc/endpoint.hpp"

namespace fabric::verbs {

// True if every attribute named in the mask has a value this device can work with.
bool valid_attributes(const ibv_qp_attr& attr, int mask);
// Copies the attributes named in the mask.
void merge_attributes(ibv_qp_attr& into, const ibv_qp_attr& attr, int mask);
// The same as the transport wants them. `stream_mtu` 0: the path MTU.
rc::Attributes transport_attributes(const ibv_qp_attr& attr, std::uint32_t qp_number,
                                    std::uint32_t stream_mtu);

}  // namespace fabric::verbs
