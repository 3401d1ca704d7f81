// SPDX-License-Identifier: BSD-3-Clause
// Ctrl-C and SIGTERM: the first one asks to end, another one half a second later ends at once.
#pragma once

namespace perf {

void catch_stop_signals();
bool stop_requested();
int stop_signal();  // 0 if there was none

}  // namespace perf
