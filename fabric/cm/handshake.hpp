// SPDX-License-Identifier: BSD-3-Clause
// What an id does with what comes over its link. All of these run under the id's strand and ignore
// what does not fit the id's state.
#pragma once

#include <cstdint>

#include "cm/id.hpp"
#include "wire/cm.hpp"

namespace fabric::cm {

void on_link_up(Id& id);  // connect.cpp
// Nobody listens: tries again a little later. False: has been tried often enough.
bool open_again(Id& id);               // connect.cpp
void on_link_lost(Id& id, int error);  // lost.cpp; 0 or an errno value

void on_message(Id& id, std::uint64_t transaction, const wire::CmRequest& message);  // incoming.cpp
void on_message(Id& id, std::uint64_t transaction, const wire::CmReply& message);    // answer.cpp
void on_message(Id& id, std::uint64_t transaction, const wire::CmReject& message);   // answer.cpp
void on_message(Id& id, std::uint64_t transaction, const wire::CmMessageReceipt& message);
void on_message(Id& id, std::uint64_t transaction,
                const wire::CmReadyToUse& message);  // accept.cpp
void on_message(Id& id, std::uint64_t transaction, const wire::CmDisconnectRequest& message);
void on_message(Id& id, std::uint64_t transaction, const wire::CmDisconnectReply& message);

// Ends an attempt to connect: the link goes, the program hears `event`.
void fail(Id& id, std::unique_ptr<Event> event);  // lost.cpp
void fail(Id& id, rdma_cm_event_type type, int status);
// The id is going: tells the peer what fits the state, and drops the link.
void end_connection(Id& id);  // disconnect.cpp
// The connection is over: the program hears DISCONNECTED, and later TIMEWAIT_EXIT.
void finish(Id& id, int status);  // disconnect.cpp

}  // namespace fabric::cm
