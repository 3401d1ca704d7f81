// SPDX-License-Identifier: BSD-3-Clause
// An event may come for a completion that was taken with the one before it: then the queue is
// empty, which is no error, and the next operation wakes the next wait all the same.
#include <array>

#include "common/session.hpp"

namespace {

void send_word(const it::Attached& attached, std::uint64_t number) {
    CHECK_OK(rpma_send(attached.conn(), attached.local.mr(), 0, 8, RPMA_F_COMPLETION_ALWAYS,
                       it::context(number)));
}

void wait(rpma_cq* cq) {
    int fd = -1;
    CHECK_OK(rpma_cq_get_fd(cq, &fd));
    CHECK(it::wait_readable(fd, it::Deadline()));
    CHECK_OK(rpma_cq_wait(cq));
}

// Takes two completions in as many calls as it needs.
void take_two(rpma_cq* cq) {
    int taken = 0;
    while (taken < 2) {
        std::array<ibv_wc, 2> wcs{};
        int got = 0;
        const int code = rpma_cq_get_wc(cq, 2 - taken, wcs.data(), taken == 0 ? &got : nullptr);
        if (code == RPMA_E_NO_COMPLETION) {
            wait(cq);
            continue;
        }
        CHECK_OK(code);
        taken += got == 0 ? 1 : got;
    }
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, 64);
    for (std::uint64_t number = 0; number < 3; ++number) {
        CHECK_OK(
            rpma_recv(served.connection.get(), served.region.mr(), 0, 64, it::context(number)));
    }
    role.peer().signal("receives posted");
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, 64);
    rpma_cq* cq = it::main_cq(attached.conn());
    role.peer().await("receives posted");
    ibv_wc two[2];
    CHECK_CODE(rpma_cq_get_wc(cq, 2, two, nullptr), RPMA_E_INVAL);
    send_word(attached, 1);
    send_word(attached, 2);
    wait(cq);
    take_two(cq);
    it::expect_none(cq);
    int fd = -1;
    CHECK_OK(rpma_cq_get_fd(cq, &fd));
    while (it::wait_readable(fd, it::Deadline(std::chrono::milliseconds(100)))) {
        CHECK_OK(rpma_cq_wait(cq));
        it::expect_none(cq);
    }
    send_word(attached, 3);
    wait(cq);
    it::expect_done(cq, IBV_WC_SEND, it::context(3));
    it::disconnect(attached.conn());
}
