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

#undef fail  // the connection manager and C++ streams have functions of this name
