// SPDX-License-Identifier: BSD-3-Clause
// Links for queue pairs that programs connect by hand, with nothing but GIDs and queue pair
// numbers. On the way to RTR the side with the lower number (if equal, with the lower GID) calls
// the other one's device port and introduces itself; the other side takes the link when its own
// queue pair gets there.
#pragma once

#include <memory>

#include "carrier/link.hpp"
#include "verbs/introduction.hpp"

namespace fabric::verbs {

class RcQueuePair;

namespace hand_connect {

// The side of `own` calls (true) or waits.
bool calls(const Introduction& own);
// Starts to connect; the queue pair gets the link by attach_in_life(), or hears of the failure by
// unreachable(). 0 or errno.
int call(const std::shared_ptr<RcQueuePair>& qp, std::uint32_t life, const Introduction& own,
         std::uint32_t interface, std::shared_ptr<carrier::Link>* link);
// Takes a link that came in on a device port; it is closed if it does not introduce itself soon.
void welcome(const std::shared_ptr<carrier::Link>& link);
// What a queue pair that is connected to itself puts on the incoming end of its link: it receives
// there and sends on the other end.
std::shared_ptr<carrier::PacketHandler> loop_receiver(const std::shared_ptr<RcQueuePair>& qp);

}  // namespace hand_connect
}  // namespace fabric::verbs
