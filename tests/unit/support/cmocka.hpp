// SPDX-License-Identifier: BSD-3-Clause
// cmocka wants these headers before its own.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include <cmocka.h>
}

#undef fail  // C++ streams have a member of this name
