// SPDX-License-Identifier: BSD-3-Clause
// Texts of errno values that any thread may ask for.
#pragma once

#include <cstddef>

namespace rpma {

inline constexpr std::size_t kErrnoTextSize = 96;

/// "No such device (ENODEV, errno 19)". strerror() shares a buffer between threads, and changes
/// with the locale; this does neither. Returns buffer.
const char* errno_text(int err, char (&buffer)[kErrnoTextSize]);

/// rdma-core's data path reports errors as a positive or negative errno value or as -1 with errno.
int errno_of(int result);

}  // namespace rpma
