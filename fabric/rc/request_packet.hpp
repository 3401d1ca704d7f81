// SPDX-License-Identifier: BSD-3-Clause
// The packets of a send work request.
#pragma once

#include "rc/context.hpp"
#include "rc/send_queue.hpp"

namespace fabric::rc {

// Sets psn_count. Needs a length of at most kMaxMessage.
void count_psns(SendRequest& request, std::uint32_t mtu);

// Packets that the request is sent in (a read request is one packet, although its responses use
// more numbers).
std::uint32_t packets_of(const SendRequest& request);

// Fills `out` with the packet at PSN offset `packet`. For a read this is the request for everything
// from that offset on. False if a local key does not grant the access: nothing may be sent.
bool build_request(const SendRequest& request, std::uint32_t packet, const Context& context,
                   OutPacket& out);

// Can the request be executed? IBV_WC_SUCCESS, or the status that it must be completed with.
ibv_wc_status check_local(const SendRequest& request, const Context& context);

// Encodes out.header, which is complete but for the pad.
void seal(OutPacket& out);

}  // namespace fabric::rc
