// SPDX-License-Identifier: BSD-3-Clause
#include "memory/words.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace fabric::memory {

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

std::size_t bytes_to_word(const std::byte* address, std::size_t length) {
    const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(address) % kWord;
    return std::min(length, misaligned == 0 ? 0 : kWord - misaligned);
}

// Memory of the program has no declared type: the words are accessed by the compiler's atomics, not
// by references to objects.
template <typename Word>
void store(std::byte* shared, const std::byte* from) {
    Word word;
    std::memcpy(&word, from, sizeof word);
    __atomic_store_n(reinterpret_cast<Word*>(shared), word, __ATOMIC_RELEASE);
}

template <typename Word>
void load(std::byte* to, const std::byte* shared) {
    const Word word = __atomic_load_n(reinterpret_cast<const Word*>(shared), __ATOMIC_ACQUIRE);
    std::memcpy(to, &word, sizeof word);
}

template <typename Bytes, typename Words>
void split(const std::byte* shared, std::size_t length, Bytes byte_at, Words word_at) {
    std::size_t at = 0;
    for (const std::size_t head = bytes_to_word(shared, length); at < head; ++at) {
        byte_at(at);
    }
    for (; at + kWord <= length; at += kWord) {
        word_at(at);
    }
    for (; at < length; ++at) {
        byte_at(at);
    }
}

}  // namespace

void store_words(std::byte* shared, const std::byte* from, std::size_t length) {
    split(
        shared, length, [=](std::size_t at) { store<std::uint8_t>(shared + at, from + at); },
        [=](std::size_t at) { store<std::uint64_t>(shared + at, from + at); });
}

void load_words(std::byte* to, const std::byte* shared, std::size_t length) {
    split(
        shared, length, [=](std::size_t at) { load<std::uint8_t>(to + at, shared + at); },
        [=](std::size_t at) { load<std::uint64_t>(to + at, shared + at); });
}

}  // namespace fabric::memory
