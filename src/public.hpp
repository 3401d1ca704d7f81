// SPDX-License-Identifier: BSD-3-Clause
// The public header, with its functions visible: everything else of the library is hidden.
#pragma once

#include <infiniband/verbs.h>

#pragma GCC visibility push(default)
#include "include/librpma.h"
#pragma GCC visibility pop
