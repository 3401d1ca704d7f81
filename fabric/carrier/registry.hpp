// SPDX-License-Identifier: BSD-3-Clause
// All TCP links of this process.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace fabric::carrier {

class TcpLink;

// Thread-safe; its lock is a leaf.
namespace registry {

std::uint64_t next_id();
void add(std::uint64_t id, const std::shared_ptr<TcpLink>& link);
void remove(std::uint64_t id);
std::vector<std::shared_ptr<TcpLink>> all();

}  // namespace registry
}  // namespace fabric::carrier
