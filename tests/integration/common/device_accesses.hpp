// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace it {

// For ThreadSanitizer only. A role may look at memory that the other side has written because a
// message of the other process says so, and ThreadSanitizer cannot see that order: to it, the
// device's thread and this one race. Taking a region away makes the software device pass every
// connection's locks, which orders what it did before in front of what this thread does next, and
// what this thread did before in front of what it does next. Nothing is suppressed; without
// ThreadSanitizer this does nothing.
void order_device_accesses();

}  // namespace it
