// SPDX-License-Identifier: BSD-3-Clause
// The door into memory: bytes at their places, and memory that is not there any more.
#include "memory/placement.hpp"

#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "cmocka.hpp"
#include "pages.hpp"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

using namespace fabric;
using namespace fabric::test;
using memory::Segment;

namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;
const memory::Region kRegistered{.shared_file = true};  // the rest does not matter here

Segment segment(std::byte* at, std::size_t length) {
    return {at, length, &kRegistered};
}

std::vector<std::byte> counting(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(i + 1);
    }
    return bytes;
}

void copy_there_and_back(std::size_t from, std::size_t to, std::size_t size) {
    const auto source = counting(64);
    alignas(8) std::array<std::byte, 64> memory{};
    const Segment target = segment(memory.data() + to, size);
    assert_true(memory::copy({&target, 1}, 0, std::span(source).subspan(from, size)));
    assert_memory_equal(memory.data() + to, source.data() + from, size);
    for (std::size_t i = 0; i < memory.size(); ++i) {
        assert_true(i - to < size || memory[i] == std::byte{0});
    }
    std::array<std::byte, 64> back{};
    assert_true(memory::fetch({&target, 1}, 0, std::span(back).subspan(from, size)));
    assert_memory_equal(back.data() + from, source.data() + from, size);
    assert_int_equal(back[from + size], 0);
}

void copies_of_every_alignment_and_length(void**) {
    for (std::size_t from = 0; from < 9; ++from) {
        for (std::size_t to = 0; to < 9; ++to) {
            for (std::size_t size = 0; size < 40; ++size) {
                copy_there_and_back(from, to, size);
            }
        }
    }
}

void targets_of_several_segments(void**) {
    const auto source = counting(100);
    for (std::size_t offset = 0; offset < 30; ++offset) {
        for (std::size_t size = 0; size + offset <= 30; ++size) {
            std::array<std::byte, 64> memory{};
            const Segment target[] = {segment(memory.data(), 7), segment(memory.data() + 40, 0),
                                      segment(memory.data() + 20, 13),
                                      segment(memory.data() + 50, 10)};
            assert_true(memory::copy(target, offset, std::span(source).first(size)));
            std::array<std::byte, 30> line{};
            std::memcpy(line.data(), memory.data(), 7);
            std::memcpy(line.data() + 7, memory.data() + 20, 13);
            std::memcpy(line.data() + 20, memory.data() + 50, 10);
            assert_memory_equal(line.data() + offset, source.data(), size);
            const auto sum = std::accumulate(memory.begin(), memory.end(), 0U,
                                             [](unsigned total, std::byte byte) {
                                                 return total + std::to_integer<unsigned>(byte);
                                             });
            assert_int_equal(sum, size * (size + 1) / 2);
            std::array<std::byte, 30> back{};
            assert_true(memory::fetch(target, offset, std::span(back).first(size)));
            assert_memory_equal(back.data(), source.data(), size);
        }
    }
}

void windows_describe_what_is_left(void**) {
    std::array<std::byte, 64> memory{};
    const Segment target[] = {segment(memory.data(), 7), segment(memory.data() + 20, 13),
                              segment(memory.data() + 50, 10)};
    std::array<iovec, 4> out{};
    assert_int_equal(memory::window(target, 0, out), 3);
    assert_ptr_equal(out[0].iov_base, memory.data());
    assert_int_equal(out[2].iov_len, 10);
    assert_int_equal(memory::window(target, 9, out), 2);
    assert_ptr_equal(out[0].iov_base, memory.data() + 22);
    assert_int_equal(out[0].iov_len, 11);
    assert_int_equal(memory::window(target, 30, out), 0);
    assert_int_equal(memory::window(target, 7, std::span(out).first(1)), 1);
    assert_int_equal(out[0].iov_len, 13);
    memory::arrived(target, 0, 30);
}

void a_flood_into_too_small_a_target_stops_at_its_end(void**) {
    std::array<std::byte, 16> memory{};
    const Segment target = segment(memory.data(), 8);
    const auto source = counting(16);
    memory::copy({&target, 1}, 0, source);
    assert_int_equal(memory[7], 8);
    assert_int_equal(memory[8], 0);
}

// Each way in which the program can take registered memory away.
template <typename Check>
void for_each_kind_of_vanished_memory(Check check) {
    {
        const Mapping memory(3, kReadWrite);
        memory.unmap(1);
        check(memory, false);
    }
    {
        const Mapping memory(3, kReadWrite);
        memory.protect(1, PROT_NONE);
        check(memory, false);
    }
    {
        const File file(3);
        const Mapping memory(3, kReadWrite, file.fd());
        file.resize(1);
        check(memory, false);
    }
    {
        const Mapping memory(3, kReadWrite);
        memory.protect(1, PROT_READ);
        check(memory, true);
    }
}

void vanished_memory_is_an_error_not_a_signal(void**) {
    for_each_kind_of_vanished_memory([](const Mapping& memory, bool readable) {
        const std::size_t page = memory::page_size();
        const std::vector<std::byte> bytes(2 * page, std::byte{7});
        for (const auto& [offset, size] :
             std::vector<std::pair<std::size_t, std::size_t>>{{page, 1},
                                                              {page, 8},
                                                              {page - 1, 2},
                                                              {page - 8, 16},
                                                              {2 * page - 1, 1},
                                                              {10, 2 * page}}) {
            const Segment target = segment(memory.at(offset), size);
            std::vector<std::byte> out(size);
            assert_false(memory::copy({&target, 1}, 0, std::span(bytes).first(size)));
            assert_int_equal(memory::fetch({&target, 1}, 0, out), readable);
        }
        const Segment word = segment(memory.page(1) + 16, 8);
        std::uint64_t original = 0;
        assert_false(memory::compare_swap(word, 0, 1, &original));
        assert_false(memory::fetch_add(word, 1, &original));
        assert_false(memory::atomic_write(word, std::span(bytes).first<8>()));
        const Segment before = segment(memory.page(1) - 8, 8);
        assert_true(memory::copy({&before, 1}, 0, std::span(bytes).first(8)));
    });
}

void atomics_work_on_words(void**) {
    std::uint64_t value = 10;
    const Segment word = segment(reinterpret_cast<std::byte*>(&value), 8);
    std::uint64_t original = 0;
    assert_true(memory::fetch_add(word, 5, &original));
    assert_int_equal(original, 10);
    assert_int_equal(value, 15);
    assert_true(memory::fetch_add(word, ~std::uint64_t{0}, &original));
    assert_int_equal(value, 14);
    assert_true(memory::compare_swap(word, 14, 100, &original));
    assert_int_equal(original, 14);
    assert_int_equal(value, 100);
    assert_true(memory::compare_swap(word, 14, 200, &original));
    assert_int_equal(original, 100);
    assert_int_equal(value, 100);
    const std::array<std::byte, 8> bytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                            std::byte{5}, std::byte{6}, std::byte{7}, std::byte{8}};
    assert_true(memory::atomic_write(word, bytes));
    assert_memory_equal(&value, bytes.data(), 8);
}

void flushes_of_every_kind_of_memory(void**) {
    const File file(3);
    const Mapping shared(3, kReadWrite, file.fd());
    const Mapping anonymous(3, kReadWrite);
    const Mapping read_only(1, PROT_READ);
    const memory::Region plain{};
    std::array<std::byte, 64> stack{};
    for (const std::uint8_t type : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
        assert_true(memory::flush(segment(shared.at(5), shared.size() - 5), type));
        assert_true(memory::flush(segment(anonymous.at(5), 100), type));
        assert_true(memory::flush(segment(read_only.at(), 100), type));
        assert_true(memory::flush({stack.data(), stack.size(), &plain}, type));
        assert_true(memory::flush(segment(nullptr, 0), type));
    }
    if (RUNNING_ON_VALGRIND != 0) {
        return;  // memcheck reports the call that is about to fail
    }
    shared.unmap(1);
    assert_false(memory::flush(segment(shared.at(), shared.size()), 2));
    assert_true(memory::flush(segment(shared.at(), shared.size()), 1));
    // Without a file there is nothing to be made durable, and no system call.
    assert_true(memory::flush({shared.at(), shared.size(), &plain}, 2));
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(copies_of_every_alignment_and_length),
        cmocka_unit_test(targets_of_several_segments),
        cmocka_unit_test(windows_describe_what_is_left),
        cmocka_unit_test(a_flood_into_too_small_a_target_stops_at_its_end),
        cmocka_unit_test(vanished_memory_is_an_error_not_a_signal),
        cmocka_unit_test(atomics_work_on_words),
        cmocka_unit_test(flushes_of_every_kind_of_memory),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
