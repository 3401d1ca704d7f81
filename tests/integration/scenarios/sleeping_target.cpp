// SPDX-License-Identifier: BSD-3-Clause
// One-sided means one-sided: all threads of the target sleep, and it still serves reads, writes,
// atomic writes and flushes. Without traffic it uses no CPU.
#include <sys/resource.h>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kSize = 1U << 20U;
constexpr int kRounds = 20;

std::chrono::microseconds cpu_time() {
    rusage usage{};
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    const auto to_us = [](const timeval& time) {
        return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
    };
    return to_us(usage.ru_utime) + to_us(usage.ru_stime);
}

// A busy loop or a fast timer would use much more than a hundredth of the time.
void expect_idle(std::chrono::milliseconds span) {
    const auto before = cpu_time();
    it::sleep_ms(static_cast<int>(span.count()));
    const auto used = cpu_time() - before;
    if (used > span / 100 * it::time_scale()) {
        FAIL("%lld us of CPU time in %lld ms without traffic", static_cast<long long>(used.count()),
             static_cast<long long>(span.count()));
    }
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kSize);
    // From here on the only thread of this program sleeps in a read of the socket pair.
    role.peer().await("all served");
    it::check_filled(served.region.bytes(8, kSize - 8), kRounds - 1);
    expect_idle(std::chrono::seconds(2));
    role.peer().signal("idle");
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, 2 * kSize);
    const it::Bytes source = attached.local.bytes(0, kSize - 8);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        it::fill(source, round);
        attached.write(8, 0, source.size());
        attached.flush(0, kSize);
        attached.read(kSize, 8, source.size());
        it::check_filled(attached.local.bytes(kSize, source.size()), round);
        const char word[8] = {'c', 'o', 'm', 'm', 'i', 't', '!', '!'};
        CHECK_OK(rpma_atomic_write(attached.conn(), attached.remote.get(), 0, word,
                                   RPMA_F_COMPLETION_ALWAYS, it::context(1)));
        CHECK_EQ(it::next_completion(it::main_cq(attached.conn())).status, IBV_WC_SUCCESS);
    }
    role.peer().signal("all served");
    expect_idle(std::chrono::seconds(2));
    role.peer().await("idle");
    it::disconnect(attached.conn());
}
