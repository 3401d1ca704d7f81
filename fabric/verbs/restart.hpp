// SPDX-License-Identifier: BSD-3-Clause
// Waits that signals interrupt. The blocking read of a kernel device's descriptor goes on after a
// handler that was installed with SA_RESTART; poll(2), which waits here, never does.
#pragma once

namespace fabric::verbs {

// After EINTR: the wait is to go on. Which signal it was nobody tells, so this is true if every
// handler there is asks for it.
bool restarts_after_signal();

}  // namespace fabric::verbs
