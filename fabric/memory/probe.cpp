// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "memory/pages.hpp"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace fabric::memory {

namespace {

std::uint32_t g_nobody_waits_here = 0;  // the other address that both futex calls want

long futex(std::uintptr_t address, int operation, std::uintptr_t other,
           std::uint32_t operation_value) {
    return ::syscall(SYS_futex, address, operation | FUTEX_PRIVATE_FLAG, 0, 0L, other,
                     operation_value);
}

std::uintptr_t nobody() {
    return reinterpret_cast<std::uintptr_t>(&g_nobody_waits_here);
}

// Ors 0 into the word: a write access that changes nothing. Wakes nobody.
bool word_writable(std::uintptr_t word) {
    const std::uint32_t or_nothing = FUTEX_OP(FUTEX_OP_OR, 0U, FUTEX_OP_CMP_EQ, 0U);
    return futex(nobody(), FUTEX_WAKE_OP, word, or_nothing) >= 0 || errno != EFAULT;
}

// Compares the word with 0, and would then move no waiter. EAGAIN (another value) is as good as
// success.
bool word_readable(std::uintptr_t word) {
    return futex(word, FUTEX_CMP_REQUEUE, nobody(), 0) >= 0 || errno != EFAULT;
}

template <typename Probe>
bool every_page(const std::byte* address, std::size_t length, Probe probe) {
    if (length == 0) {
        return true;
    }
    const auto first = reinterpret_cast<std::uintptr_t>(address);
    const std::uintptr_t last = first + length - 1;
    std::uintptr_t word = first & ~std::uintptr_t{3};
    while (probe(word)) {
        word = (word | (page_size() - 1)) + 1;
        if (word > last) {
            return true;
        }
    }
    return false;
}

// Memcheck takes a probe for a use of the bytes and would complain of those that nobody has written
// yet. madvise, which costs three times as much, names no bytes. (Linux 5.14)
bool populate(const std::byte* address, std::size_t length, int advice) {
    const PageRange pages = pages_of(address, length);
    return ::madvise(pages.begin, pages.length, advice) == 0;
}

bool under_valgrind() {
    static const bool answer = RUNNING_ON_VALGRIND != 0;
    return answer;
}

}  // namespace

bool writable(const std::byte* address, std::size_t length) {
    if (under_valgrind()) {
        return length == 0 || populate(address, length, MADV_POPULATE_WRITE);
    }
    return every_page(address, length, word_writable);
}

bool readable(const std::byte* address, std::size_t length) {
    if (under_valgrind()) {
        return length == 0 || populate(address, length, MADV_POPULATE_READ);
    }
    return every_page(address, length, word_readable);
}

}  // namespace fabric::memory
