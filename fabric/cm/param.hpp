// SPDX-License-Identifier: BSD-3-Clause
// The connection parameters a program gives to rdma_connect and rdma_accept.
#pragma once

#include <cstddef>
#include <span>

#include "cm/id.hpp"

namespace fabric::cm {

// What stands for a missing rdma_conn_param.
rdma_conn_param defaults();

// 0, or EINVAL: no parameters and no queue pair, more resources than the device has, more than
// `limit` bytes of private data. `param` may be nullptr.
int check(const Id& id, const rdma_conn_param* param, std::size_t limit);

// Copies the private data; what is behind it stays zero.
void copy_private_data(const rdma_conn_param& param, std::span<std::byte> out);

// The number and kind of the queue pair that will be connected.
std::uint32_t queue_pair_number(const Id& id, const rdma_conn_param& param);
bool shares_receive_queue(const Id& id, const rdma_conn_param& param);

}  // namespace fabric::cm
