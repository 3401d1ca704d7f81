// SPDX-License-Identifier: BSD-3-Clause
// Texts of errno values that any thread may ask for.
#pragma once

#include <cstddef>

namespace rpma {

inline constexpr std::size_t kErrnoTextSize = 96;

/// "No such device (ENODEV, errno 19)". strerror() shares a buffer between threads, and changes
/// with the locale; this does neither. Returns buffer.
const char* errno_text(int err, char (&buffer)[kErrnoTextSize]);

/// What the user can do about err wherever it comes from, to be appended to a sentence; or "".
const char* advice_for(int err);

/// Whether a call that waits for events failed only because there is none yet, or a signal came.
/// The kernel answers EAGAIN for an empty non-blocking channel; ENODATA is what librpma's users
/// were once promised. An interrupted wait is no fault either: its user may want to stop, or to go
/// on.
bool means_nothing_yet(int err);

/// rdma-core's data path reports errors as a positive or negative errno value or as -1 with errno.
int errno_of(int result);

}  // namespace rpma
