// SPDX-License-Identifier: BSD-3-Clause
// The 8-byte atomic write: copies its source, is never seen half done, and is ordered behind what
// was flushed before it.
#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kSpace = 4096;
constexpr std::size_t kData = 64;  // offset of data that the word at offset 0 announces
constexpr std::uint64_t kFirst = 0x1111111111111111U;
constexpr std::uint64_t kSecond = 0xeeeeeeeeeeeeeeeeU;
constexpr std::uint64_t kEnd = 0x0123456789abcdefU;
constexpr int kWrites = 100000;  // fewer under slow tools
constexpr int kCommits = 100;

using Word = std::array<char, 8>;

Word to_word(std::uint64_t value) {
    Word word{};
    std::memcpy(word.data(), &value, sizeof value);
    return word;
}

std::uint64_t load(const it::Region& region) {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(region.bytes().data()))
        .load(std::memory_order_acquire);
}

// Valgrind runs one thread at a time: one that only looks would keep the device's from working.
void give_way(const it::Deadline& deadline) {
    CHECK(!deadline.passed());
    std::this_thread::yield();
}

void watch_two_values(const it::Region& region) {
    const it::Deadline deadline(std::chrono::seconds(40));
    for (std::uint64_t seen = 0; seen != kEnd; seen = load(region)) {
        CHECK(seen == 0 || seen == kFirst || seen == kSecond);
        give_way(deadline);
    }
}

// Once the number of a commit shows, all data before it is there.
void watch_commits(it::Role& role, const it::Region& region) {
    for (std::uint64_t commit = 1; commit <= kCommits; ++commit) {
        const it::Deadline deadline;
        while (load(region) != commit) {
            give_way(deadline);
        }
        it::check_filled(region.bytes(kData, kSpace - kData), commit);
        role.peer().signal("seen");
    }
}

void atomic_write(const it::Attached& attached, std::uint64_t value, int flags) {
    Word word = to_word(value);
    CHECK_OK(rpma_atomic_write(attached.conn(), attached.remote.get(), 0, word.data(), flags,
                               it::context(4)));
    word = to_word(0xbadbadbadbadbadU);  // must not be what arrives
    asm volatile("" : : "r"(word.data()) : "memory");
}

void wait_for_word(const it::Attached& attached) {
    const ibv_wc wc = it::next_completion(it::main_cq(attached.conn()));
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.wr_id, 4);
}

void write_two_values(const it::Attached& attached) {
    for (int count = 0; count < kWrites / it::time_scale(); ++count) {
        const bool last_of_eight = count % 8 == 7;
        atomic_write(attached, count % 2 == 0 ? kFirst : kSecond,
                     last_of_eight ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR);
        if (last_of_eight) {
            wait_for_word(attached);
        }
    }
    atomic_write(attached, kEnd, RPMA_F_COMPLETION_ALWAYS);
    wait_for_word(attached);
}

void write_commits(it::Role& role, const it::Attached& attached) {
    for (std::uint64_t commit = 1; commit <= kCommits; ++commit) {
        const it::Bytes data = attached.local.bytes(0, kSpace - kData);
        it::fill(data, commit);
        CHECK_OK(rpma_write(attached.conn(), attached.remote.get(), kData, attached.local.mr(), 0,
                            data.size(), RPMA_F_COMPLETION_ON_ERROR, nullptr));
        CHECK_OK(rpma_flush(attached.conn(), attached.remote.get(), kData, data.size(),
                            RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ON_ERROR, nullptr));
        atomic_write(attached, commit, RPMA_F_COMPLETION_ALWAYS);
        wait_for_word(attached);
        role.peer().await("seen");
    }
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kSpace);
    watch_two_values(served.region);
    role.peer().signal("end seen");
    watch_commits(role, served.region);
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kSpace);
    const Word word = to_word(kFirst);
    CHECK_CODE(rpma_atomic_write(attached.conn(), attached.remote.get(), 4, word.data(),
                                 RPMA_F_COMPLETION_ALWAYS, nullptr),
               RPMA_E_INVAL);
    CHECK_CODE(
        rpma_atomic_write(attached.conn(), attached.remote.get(), 0, word.data(), 0, nullptr),
        RPMA_E_INVAL);
    write_two_values(attached);
    role.peer().await("end seen");
    write_commits(role, attached);
    it::disconnect(attached.conn());
}
