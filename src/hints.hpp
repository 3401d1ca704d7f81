// SPDX-License-Identifier: BSD-3-Clause
// Hints that keep rare code out of the way of the data path.
#pragma once

#define RPMA_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)
#define RPMA_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), 0)
/// For functions of failing and rare paths: never inlined, placed apart.
#define RPMA_COLD __attribute__((noinline, cold))
/// For functions of other paths that are neither rare nor so fast: never inlined.
#define RPMA_APART __attribute__((noinline))
/// For functions of the fast path that must not be split off.
#define RPMA_INLINE inline __attribute__((always_inline))
