// SPDX-License-Identifier: BSD-3-Clause
// Queue pairs, completion queues and shared receive queues that belong to an id.
#pragma once

#include "cm/id.hpp"

namespace fabric::cm {

void destroy_queues(Id& id);  // the completion queues made for the id, and their channels

}  // namespace fabric::cm
