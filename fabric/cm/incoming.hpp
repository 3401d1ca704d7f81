// SPDX-License-Identifier: BSD-3-Clause
// Ids made by connect requests, until they belong to the program.
#pragma once

#include <cstdint>
#include <memory>

#include "cm/channel.hpp"
#include "cm/id.hpp"

namespace fabric::cm {

// A link came in at a listening id: makes the id that waits for the request on it.
void receive_link(const std::shared_ptr<Id>& listening, std::shared_ptr<carrier::Link> link);

// The program takes the new id: it is on the listening id's channel from now on, or on one of its
// own if that is synchronous. False without a descriptor for one.
bool adopt(Id& fresh, Id& listening, const std::shared_ptr<Channel>& channel);

// Rejects the peer of an id that no program knows, and ends the id.
void refuse(const std::shared_ptr<Id>& fresh, std::uint16_t reason);
// The same for all connect requests among events that nobody will get.
void refuse_all(const Channel::Events& dropped);

}  // namespace fabric::cm
