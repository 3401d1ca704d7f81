// SPDX-License-Identifier: BSD-3-Clause
// Which memory can be registered.
#include "memory/mappings.hpp"

#include <cerrno>
#include <memory>
#include <vector>

#include "cmocka.hpp"
#include "memory/maps_reader.hpp"
#include "pages.hpp"

using namespace fabric;
using namespace fabric::test;

namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

int error_of(const void* base, std::size_t length, bool writable) {
    return memory::check_mapped(base, length, writable).error;
}

void lines_are_understood(void**) {
    const auto usual =
        memory::parse_mapping("7f0012345000-7f0012346000 rw-p 00000000 08:01 42   /usr/lib/x y");
    assert_true(usual.has_value());
    assert_int_equal(usual->begin, 0x7f0012345000);
    assert_int_equal(usual->end, 0x7f0012346000);
    assert_true(usual->readable);
    assert_true(usual->writable);
    const auto closed = memory::parse_mapping("1000-2000 ---p 00000000 00:00 0");
    assert_true(closed.has_value());
    assert_false(closed->readable);
    assert_false(closed->writable);
    const auto top =
        memory::parse_mapping("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]");
    assert_true(top.has_value());
    assert_int_equal(top->begin, 0xffffffffff600000);
    for (const char* line : {"", "-", "1000", "1000-", "1000-2000", "1000-2000 ", "1000-2000 r",
                             "x-y rwxp", "1000 2000 rwxp", "11111111111111111-2 rwxp"}) {
        assert_false(memory::parse_mapping(line).has_value());
    }
}

void mapped_memory_of_every_kind(void**) {
    int on_stack = 0;
    const auto on_heap = std::make_unique<int>(1);
    static int global = 0;
    assert_int_equal(error_of(&on_stack, sizeof on_stack, true), 0);
    assert_int_equal(error_of(on_heap.get(), sizeof(int), true), 0);
    assert_int_equal(error_of(&global, sizeof global, true), 0);
    const File file(3);
    const Mapping shared(3, kReadWrite, file.fd());
    assert_int_equal(error_of(shared.at(1), shared.size() - 1, true), 0);
}

void a_huge_sparse_mapping_costs_nothing(void**) {
    const Mapping huge((std::size_t{1} << 35) / memory::page_size(), kReadWrite);
    assert_int_equal(error_of(huge.at(), huge.size(), true), 0);
    assert_int_equal(error_of(huge.at(huge.size() - 1), 1, true), 0);
}

void shared_files_are_told_apart(void**) {
    const File file(3);
    const Mapping shared(3, kReadWrite, file.fd());
    const Mapping anonymous(3, kReadWrite);
    assert_true(memory::check_mapped(shared.at(), 1, true).shared_file);
    assert_false(memory::check_mapped(anonymous.at(), 1, true).shared_file);
    const auto line = memory::parse_mapping("1000-2000 rw-s 00000000 08:01 42   /file");
    assert_true(line.has_value() && line->shared_file);
    const auto copy_on_write = memory::parse_mapping("1000-2000 rw-p 00000000 08:01 42   /file");
    assert_true(copy_on_write.has_value() && !copy_on_write->shared_file);
}

void holes_are_found(void**) {
    const Mapping memory(5, kReadWrite);
    memory.unmap(2);
    const std::size_t page = memory::page_size();
    assert_int_equal(error_of(memory.page(0), 2 * page, true), 0);
    assert_int_equal(error_of(memory.page(0), 2 * page + 1, true), EFAULT);
    assert_int_equal(error_of(memory.page(0), 5 * page, true), EFAULT);
    assert_int_equal(error_of(memory.page(2), page, false), EFAULT);
    assert_int_equal(error_of(memory.page(3) - 1, 2, false), EFAULT);
    assert_int_equal(error_of(memory.page(3), 2 * page, true), 0);
    assert_int_equal(error_of(nullptr, 1, false), EFAULT);
}

void protections_are_found(void**) {
    const Mapping memory(5, kReadWrite);
    const std::size_t page = memory::page_size();
    memory.protect(1, PROT_READ);
    memory.protect(3, PROT_NONE);
    assert_int_equal(error_of(memory.page(0), 3 * page, false), 0);
    assert_int_equal(error_of(memory.page(0), 3 * page, true), EFAULT);
    assert_int_equal(error_of(memory.page(0), page + 1, true), EFAULT);
    assert_int_equal(error_of(memory.page(2), page + 1, false), EFAULT);
}

void adjacent_mappings_count_as_one(void**) {
    const Mapping memory(9, kReadWrite);
    for (const std::size_t number : {1U, 3U, 5U, 7U}) {
        memory.protect(number, PROT_READ);
    }
    assert_int_equal(error_of(memory.at(), memory.size(), false), 0);
}

void many_mappings_are_read_over_several_buffers(void**) {
    const Mapping memory(4000, kReadWrite);
    for (std::size_t number = 1; number < 4000; number += 2) {
        memory.protect(number, PROT_READ);
    }
    assert_int_equal(error_of(memory.at(), memory.size(), false), 0);
    assert_int_equal(error_of(memory.at(), memory.size(), true), EFAULT);
    memory.unmap(3998);
    assert_int_equal(error_of(memory.at(), memory.size(), false), EFAULT);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_understood),
        cmocka_unit_test(mapped_memory_of_every_kind),
        cmocka_unit_test(a_huge_sparse_mapping_costs_nothing),
        cmocka_unit_test(shared_files_are_told_apart),
        cmocka_unit_test(holes_are_found),
        cmocka_unit_test(protections_are_found),
        cmocka_unit_test(adjacent_mappings_count_as_one),
        cmocka_unit_test(many_mappings_are_read_over_several_buffers),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
