// SPDX-License-Identifier: BSD-3-Clause
// The program's threads and the fabric at the same memory, and look-ups while regions come and go.
#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "cmocka.hpp"
#include "memory/placement.hpp"
#include "memory/table.hpp"

using namespace fabric;
using memory::Segment;

namespace {

const memory::Region kRegistered{};
constexpr unsigned kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

Segment segment(std::uint64_t* word, std::size_t words = 1) {
    return {reinterpret_cast<std::byte*>(word), 8 * words, &kRegistered};
}

void remote_and_local_atomics_lose_nothing(void**) {
    constexpr std::uint64_t kRounds = 50000;
    std::uint64_t counter = 0;
    std::thread program([&] {
        for (std::uint64_t i = 0; i < kRounds; ++i) {
            std::atomic_ref(counter).fetch_add(1);
        }
    });
    for (std::uint64_t i = 0; i < kRounds; ++i) {
        std::uint64_t original = 0;
        if (i % 2 == 0) {
            memory::fetch_add(segment(&counter), 1, &original);
            continue;
        }
        std::uint64_t expected = 0;
        do {
            expected = original;
            memory::compare_swap(segment(&counter), expected, expected + 1, &original);
        } while (original != expected);
    }
    program.join();
    assert_int_equal(counter, 2 * kRounds);
}

void a_copied_word_is_never_torn(void**) {
    alignas(8) std::array<std::uint64_t, 4> words{};
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> torn{0};
    std::thread program([&] {
        while (!stop.load()) {
            for (std::uint64_t& word : words) {
                const std::uint64_t seen = std::atomic_ref(word).load();
                torn += seen != 0 && seen != ~std::uint64_t{0} ? 1 : 0;
            }
        }
    });
    std::array<std::byte, 32> zeros{};
    std::array<std::byte, 32> ones;
    ones.fill(std::byte{0xff});
    const Segment target = segment(words.data(), words.size());
    for (int i = 0; i < 50000; ++i) {
        assert_true(memory::copy({&target, 1}, 0, i % 2 == 0 ? ones : zeros));
    }
    stop = true;
    program.join();
    assert_int_equal(torn.load(), 0);
}

void a_fetched_word_is_never_torn(void**) {
    std::uint64_t word = 0;
    std::atomic<bool> stop{false};
    std::thread program([&] {
        for (std::uint64_t i = 0; !stop.load(); ++i) {
            std::atomic_ref(word).store(i % 2 == 0 ? ~std::uint64_t{0} : 0);
        }
    });
    const Segment source = segment(&word);
    for (int i = 0; i < 50000; ++i) {
        std::array<std::byte, 8> out;
        assert_true(memory::fetch({&source, 1}, 0, out));
        std::uint64_t seen = 0;
        std::memcpy(&seen, out.data(), sizeof seen);
        assert_true(seen == 0 || seen == ~std::uint64_t{0});
    }
    stop = true;
    program.join();
}

void regions_come_and_go_during_look_ups(void**) {
    const ibv_pd pd{};
    std::array<std::byte, 64> memory{};
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    std::atomic<std::uint32_t> key{0};
    std::atomic<bool> stop{false};
    std::thread finder([&] {
        while (!stop.load()) {
            const auto found = memory::Table::instance().find(key.load(), &pd, address, 64, kAll);
            // The segment's address can be used; the region behind it may be gone, since no lock is
            // held here.
            if (found && found->address != memory.data()) {
                std::abort();
            }
        }
    });
    std::vector<memory::Region*> retired;
    for (int i = 0; i < 3000; ++i) {
        memory::Region* region = nullptr;
        assert_int_equal(
            memory::Table::instance().add(&pd, memory.data(), 64, address, kAll, &region), 0);
        key = region->key;
        memory::Table::instance().retire(region);
        retired.push_back(region);
    }
    stop = true;
    finder.join();
    for (memory::Region* region : retired) {
        memory::Table::instance().free(region);
    }
}

void register_often() {
    const ibv_pd pd{};
    std::array<std::byte, 64> memory{};
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    memory::Table& table = memory::Table::instance();
    for (int round = 0; round < 500; ++round) {
        memory::Region* region = nullptr;
        if (table.add(&pd, memory.data(), 64, address, kAll, &region) != 0 ||
            !table.find(region->key, &pd, address, 64, 0) || table.regions_of(&pd) != 1) {
            std::abort();
        }
        table.retire(region);
        table.free(region);
    }
}

void many_threads_register(void**) {
    std::array<std::thread, 4> threads;
    for (std::thread& thread : threads) {
        thread = std::thread(register_often);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(remote_and_local_atomics_lose_nothing),
        cmocka_unit_test(a_copied_word_is_never_torn),
        cmocka_unit_test(a_fetched_word_is_never_torn),
        cmocka_unit_test(regions_come_and_go_during_look_ups),
        cmocka_unit_test(many_threads_register),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
