// SPDX-License-Identifier: BSD-3-Clause
// All queue pairs of this process. Holds the program's share in each.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>

namespace fabric::verbs {

class RcQueuePair;

// Thread-safe; its lock is a leaf.
namespace qp_registry {

void add(const std::shared_ptr<RcQueuePair>& qp);
std::shared_ptr<RcQueuePair> remove(const ibv_qp* handle);
std::shared_ptr<RcQueuePair> by_handle(const ibv_qp* handle);
std::shared_ptr<RcQueuePair> by_number(std::uint32_t number);
// Takes and releases every queue pair's lock once.
void pass_locks();

}  // namespace qp_registry
}  // namespace fabric::verbs
