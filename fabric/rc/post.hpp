// SPDX-License-Identifier: BSD-3-Clause
// From the work request of a program to the form the transport keeps. Everything that ibv_post_send
// itself reports is checked here.
#pragma once

#include "rc/send_queue.hpp"

namespace fabric::rc {

// 0 or EINVAL: what take() would say.
int check(const ibv_send_wr& wr, const Capacity& capacity);
int check(const Endpoint::NativeRequest& request);
// 0 and a filled `out`, or EINVAL.
int take(const ibv_send_wr& wr, const Capacity& capacity, SendRequest& out);
int take(const Endpoint::NativeRequest& request, const Capacity& capacity, SendRequest& out);

}  // namespace fabric::rc
