// SPDX-License-Identifier: BSD-3-Clause
// What an id's route says once both addresses are known.
#pragma once

#include <cstdint>

#include "cm/id.hpp"

namespace fabric::cm {

void fill_gids(Id& id);  // route.addr.addr.ibaddr
void fill_path(Id& id);  // route.path_rec, one path

std::uint32_t random_number();
// Unlike all other ids of this process.
std::uint32_t new_local_id();

}  // namespace fabric::cm
