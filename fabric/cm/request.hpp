// SPDX-License-Identifier: BSD-3-Clause
// The request an active id sends, made from what the program asks for.
#pragma once

#include "cm/id.hpp"

namespace fabric::cm {

// Chooses this side's terms and fills id.request.
void write_request(Id& id, const rdma_conn_param& param);
// The source port was not known before the link was open.
void set_source_port(Id& id, std::uint16_t port);

}  // namespace fabric::cm
