// SPDX-License-Identifier: BSD-3-Clause
// Small arithmetic of the data path, where each instruction counts.
#pragma once

#include <cstdint>
#include <cstring>

#include "hints.hpp"

#if defined(__x86_64__) && !defined(__ILP32__)
#define RPMA_X86_64 1
#endif

namespace rpma {

/// Whether no pointer is NULL, in one branch. It may say no where all are given, if the addresses
/// have no bit in common; the precise checks then let the call pass.
template <typename... Pointers>
RPMA_INLINE bool surely_given(Pointers... pointers) {
    return (reinterpret_cast<std::uintptr_t>(pointers) & ...) != 0;
}

/// value, in the register that is no argument: gcc else moves those about that hold the arguments.
template <typename T>
RPMA_INLINE T apart(T value) {
#ifdef RPMA_X86_64
    asm("" : "+a"(value));
#endif
    return value;
}

/// value, of which the compiler then knows nothing: so it does not make a register that holds it
/// anew as a constant.
template <typename T>
RPMA_INLINE T opaque(T value) {
    asm("" : "+r"(value));
    return value;
}

/// value -= by; whether that went below 0. Compilers would spend a comparison of its own on it.
RPMA_INLINE bool subtract(std::uint64_t& value, std::uint64_t by) {
#ifdef RPMA_X86_64
    bool borrowed = false;
    asm("subq %[by], %[value]" : [value] "+r"(value), "=@ccc"(borrowed) : [by] "r"(by));
    return borrowed;
#else
    return __builtin_sub_overflow(value, by, &value);
#endif
}

/// --count; whether it is 0 now. Compilers would compare with 1, then make the 0 anew.
RPMA_INLINE bool take_last(int& count) {
#ifdef RPMA_X86_64
    bool none_left = false;
    asm("subl $1, %[count]" : [count] "+r"(count), "=@ccz"(none_left));
    return none_left;
#else
    return --count == 0;
#endif
}

/// Two neighbouring 64-bit words, as vector registers move them: a work request has several pairs
/// of fields that stand side by side in a region or a connection too.
using Words = std::uint64_t __attribute__((vector_size(16)));

/// from: at a multiple of 16.
RPMA_INLINE Words load_words(const void* from) {
    Words words;
    std::memcpy(&words, __builtin_assume_aligned(from, sizeof(words)), sizeof(words));
    return words;
}

RPMA_INLINE void store_words(void* to, Words words) {
    std::memcpy(to, &words, sizeof(words));
}

}  // namespace rpma
