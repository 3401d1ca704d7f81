// SPDX-License-Identifier: BSD-3-Clause
// How a fork goes past the engine: it rests while the process is copied, so that no lock of a link
// is held by it in the child.
#pragma once

namespace fabric::carrier {

void engine_pause();   // before the fork, in the forking thread
void engine_resume();  // after it, in the parent
void engine_forget();  // after it, in the child: the next use starts a new engine

}  // namespace fabric::carrier
