// SPDX-License-Identifier: BSD-3-Clause
// Registration: what is refused, what a key gives access to, and that an old key gives none.
#include "memory/table.hpp"

#include <cerrno>
#include <set>
#include <vector>

#include "cmocka.hpp"
#include "pages.hpp"

using namespace fabric;
using namespace fabric::test;

namespace {

constexpr unsigned kWrite = IBV_ACCESS_LOCAL_WRITE;
constexpr unsigned kAll =
    kWrite | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

memory::Table& table() {
    return memory::Table::instance();
}

std::uint64_t address_of(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

// A registration that ends with its scope.
class Registered {
public:
    Registered(const ibv_pd* pd, void* base, std::uint64_t length, unsigned access) {
        assert_int_equal(table().add(pd, base, length, address_of(base), access, &region_), 0);
    }
    ~Registered() {
        table().retire(region_);
        table().free(region_);
    }
    Registered(const Registered&) = delete;
    Registered& operator=(const Registered&) = delete;
    const memory::Region& operator*() const { return *region_; }

private:
    memory::Region* region_ = nullptr;
};

int error_of(void* base, std::uint64_t length, std::uint64_t iova, unsigned access) {
    const ibv_pd pd{};
    memory::Region* region = nullptr;
    const int error = table().add(&pd, base, length, iova, access, &region);
    if (error == 0) {
        table().retire(region);
        table().free(region);
    } else {
        assert_null(region);
    }
    return error;
}

void bad_requests_are_refused(void**) {
    std::uint64_t memory[4] = {};
    const std::uint64_t here = address_of(memory);
    assert_int_equal(error_of(memory, 32, here, kAll), 0);
    assert_int_equal(error_of(memory, 0, here, kAll), EINVAL);
    assert_int_equal(error_of(memory, ~std::uint64_t{0}, here, kAll), EINVAL);
    assert_int_equal(error_of(memory, 32, ~std::uint64_t{0} - 8, kAll), EINVAL);
    assert_int_equal(error_of(memory, 32, here, IBV_ACCESS_REMOTE_WRITE), EINVAL);
    assert_int_equal(error_of(memory, 32, here, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
    assert_int_equal(error_of(memory, 32, here, IBV_ACCESS_REMOTE_READ), 0);
    assert_int_equal(error_of(memory, 32, here, kAll | IBV_ACCESS_ON_DEMAND), 0);
}

void memory_that_is_not_there_is_refused(void**) {
    const Mapping memory(3, PROT_READ | PROT_WRITE);
    memory.unmap(1);
    const std::size_t page = memory::page_size();
    assert_int_equal(error_of(memory.page(0), page, 0, kAll), 0);
    assert_int_equal(error_of(memory.page(0), page + 1, 0, kAll), EFAULT);
    assert_int_equal(error_of(memory.page(1), 1, 0, kAll), EFAULT);
    memory.protect(2, PROT_READ);
    assert_int_equal(error_of(memory.page(2), page, 0, kAll), EFAULT);
    assert_int_equal(error_of(memory.page(2), page, 0, IBV_ACCESS_REMOTE_READ), 0);
    memory.protect(2, PROT_NONE);
    assert_int_equal(error_of(memory.page(2), page, 0, 0), EFAULT);
}

void the_range_is_exact(void**) {
    const ibv_pd pd{};
    std::byte memory[100];
    const Registered region(&pd, memory, 100, kAll);
    const std::uint32_t key = (*region).key;
    const std::uint64_t here = address_of(memory);
    const auto all = table().find(key, &pd, here, 100, 0);
    assert_true(all.has_value());
    assert_ptr_equal(all->address, memory);
    assert_int_equal(all->length, 100);
    assert_ptr_equal(all->region, &*region);
    const auto last = table().find(key, &pd, here + 99, 1, 0);
    assert_true(last.has_value());
    assert_ptr_equal(last->address, memory + 99);
    assert_true(table().find(key, &pd, here + 100, 0, 0).has_value());
    for (const auto& [address, length] :
         std::vector<std::pair<std::uint64_t, std::uint64_t>>{{here - 1, 1},
                                                              {here, 101},
                                                              {here + 1, 100},
                                                              {here + 100, 1},
                                                              {here + 101, 0},
                                                              {here - 1, 0},
                                                              {here, ~std::uint64_t{0}},
                                                              {~std::uint64_t{0}, 2},
                                                              {0, 0}}) {
        assert_false(table().find(key, &pd, address, length, 0).has_value());
    }
}

void another_name_for_the_start(void**) {
    const ibv_pd pd{};
    std::byte memory[100];
    memory::Region* region = nullptr;
    assert_int_equal(table().add(&pd, memory, 100, 0x5000, kAll, &region), 0);
    const auto found = table().find(region->key, &pd, 0x5010, 8, 0);
    assert_true(found.has_value());
    assert_ptr_equal(found->address, memory + 0x10);
    assert_false(table().find(region->key, &pd, address_of(memory), 8, 0).has_value());
    table().retire(region);
    table().free(region);
}

void access_and_domain_must_fit(void**) {
    const ibv_pd pd{};
    const ibv_pd other{};
    std::byte memory[8];
    const Registered region(&pd, memory, 8, kWrite | IBV_ACCESS_REMOTE_READ);
    const std::uint32_t key = (*region).key;
    const std::uint64_t here = address_of(memory);
    assert_true(table().find(key, &pd, here, 8, 0).has_value());
    assert_true(table().find(key, &pd, here, 8, IBV_ACCESS_REMOTE_READ).has_value());
    assert_false(table().find(key, &pd, here, 8, IBV_ACCESS_REMOTE_WRITE).has_value());
    assert_false(table()
                     .find(key, &pd, here, 8, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
                     .has_value());
    assert_false(table().find(key, &other, here, 8, 0).has_value());
    assert_true(table().find_region(key, &pd, IBV_ACCESS_REMOTE_READ).has_value());
    assert_int_equal(table().find_region(key, &pd, 0)->length, 8);
    assert_false(table().find_region(key, &pd, IBV_ACCESS_REMOTE_WRITE).has_value());
    assert_false(table().find_region(key, &other, 0).has_value());
}

void foreign_keys_find_nothing(void**) {
    const ibv_pd pd{};
    std::byte memory[8];
    const Registered region(&pd, memory, 8, kAll);
    for (unsigned bit = 0; bit < 32; ++bit) {
        const std::uint32_t key = (*region).key ^ 1U << bit;
        assert_false(table().find(key, &pd, address_of(memory), 8, 0).has_value());
    }
    assert_false(table().find(0, &pd, address_of(memory), 8, 0).has_value());
    assert_false(table().find(~0U, &pd, address_of(memory), 8, 0).has_value());
}

void an_old_key_never_meets_a_new_region(void**) {
    const ibv_pd pd{};
    std::byte memory[8];
    std::set<std::uint32_t> used;
    for (int i = 0; i < 5000; ++i) {
        const Registered region(&pd, memory, 8, kAll);
        assert_true(used.insert((*region).key).second);
    }
    for (const std::uint32_t key : used) {
        assert_false(table().find(key, &pd, address_of(memory), 8, 0).has_value());
    }
}

void many_regions_at_once(void**) {
    const ibv_pd pd{};
    const ibv_pd other{};
    std::vector<std::byte> memory(5000);
    std::vector<memory::Region*> regions(5000);
    for (std::size_t i = 0; i < regions.size(); ++i) {
        const ibv_pd* const owner = i % 5 == 0 ? &other : &pd;
        const int error =
            table().add(owner, &memory[i], 1, address_of(&memory[i]), kAll, &regions[i]);
        assert_int_equal(error, 0);
    }
    assert_int_equal(table().regions_of(&pd), 4000);
    assert_int_equal(table().regions_of(&other), 1000);
    for (std::size_t i = 0; i < regions.size(); ++i) {
        const auto found =
            table().find(regions[i]->key, regions[i]->pd, address_of(&memory[i]), 1, kAll);
        assert_true(found.has_value());
        assert_ptr_equal(found->address, &memory[i]);
        assert_ptr_equal(found->region, regions[i]);
    }
    for (memory::Region* region : regions) {
        table().retire(region);
        table().free(region);
    }
    assert_int_equal(table().regions_of(&pd), 0);
    assert_int_equal(table().regions_of(&other), 0);
}

void a_retired_region_is_not_found_but_lives_on(void**) {
    const ibv_pd pd{};
    std::byte memory[8];
    memory::Region* region = nullptr;
    assert_int_equal(table().add(&pd, memory, 8, address_of(memory), kAll, &region), 0);
    table().retire(region);
    assert_false(table().find(region->key, &pd, address_of(memory), 8, 0).has_value());
    assert_ptr_equal(region->base, memory);
    table().free(region);
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(memory_that_is_not_there_is_refused),
        cmocka_unit_test(the_range_is_exact),
        cmocka_unit_test(another_name_for_the_start),
        cmocka_unit_test(access_and_domain_must_fit),
        cmocka_unit_test(foreign_keys_find_nothing),
        cmocka_unit_test(an_old_key_never_meets_a_new_region),
        cmocka_unit_test(many_regions_at_once),
        cmocka_unit_test(a_retired_region_is_not_found_but_lives_on),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
