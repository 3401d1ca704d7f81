// SPDX-License-Identifier: BSD-3-Clause
// Nobody polls: posting fails once the send queue is full, nothing is lost, and posting works again
// after polling. Unsignalled operations give their slots back when a later signalled one has been
// polled.
#include "common/session.hpp"

namespace {

constexpr std::uint64_t kMost = 4096;
constexpr std::uint64_t kAtLeast = 10;  // the default size of the send queue

int write_word(const it::Attached& attached, std::uint64_t number, int flags) {
    return rpma_write(attached.conn(), attached.remote.get(), 0, attached.local.mr(), 0, 8, flags,
                      it::context(number));
}

// A full queue is "try again" here and a provider error with older libraries.
bool says_full(int code) {
    return code == RPMA_E_AGAIN || code == RPMA_E_PROVIDER;
}

std::uint64_t fill_queue(const it::Attached& attached) {
    for (std::uint64_t number = 0; number < kMost; ++number) {
        const int code = write_word(attached, number, RPMA_F_COMPLETION_ALWAYS);
        if (code != 0) {
            CHECK(says_full(code));
            return number;
        }
    }
    FAIL("the send queue never got full");
}

void drain(const it::Attached& attached, std::uint64_t posted) {
    for (std::uint64_t number = 0; number < posted; ++number) {
        it::expect_done(attached.conn(), IBV_WC_RDMA_WRITE, it::context(number));
    }
    it::expect_none(it::main_cq(attached.conn()));
}

void unsignalled_slots_come_back(const it::Attached& attached) {
    for (int round = 0; round < 20; ++round) {
        for (std::uint64_t number = 0; number < kAtLeast - 1; ++number) {
            CHECK_OK(write_word(attached, number, RPMA_F_COMPLETION_ON_ERROR));
        }
        CHECK_OK(write_word(attached, 5, RPMA_F_COMPLETION_ALWAYS));
        it::expect_done(attached.conn(), IBV_WC_RDMA_WRITE, it::context(5));
        it::expect_none(it::main_cq(attached.conn()));
    }
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, 4096);
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, 4096);
    for (int round = 0; round < 3; ++round) {
        const std::uint64_t posted = fill_queue(attached);
        CHECK(posted >= kAtLeast);
        drain(attached, posted);
    }
    unsignalled_slots_come_back(attached);
    it::disconnect(attached.conn());
}
