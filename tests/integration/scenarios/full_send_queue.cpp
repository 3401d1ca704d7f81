// SPDX-License-Identifier: BSD-3-Clause
// Nobody polls: posting fails once the send queue is full, nothing is lost, and posting works again
// after polling. Unsignalled operations give their slots back when a later signalled one has been
// polled. A full queue and a queue that cannot send at all have codes of their own.
#include <cerrno>

#include "common/log_capture.hpp"
#include "common/session.hpp"

namespace {

constexpr std::uint64_t kMost = 4096;
constexpr std::uint64_t kAtLeast = 10;  // the default size of the send queue

int write_word(const it::Attached& attached, std::uint64_t number, int flags) {
    return rpma_write(attached.conn(), attached.remote.get(), 0, attached.local.mr(), 0, 8, flags,
                      it::context(number));
}

std::uint64_t fill_queue(const it::Attached& attached) {
    for (std::uint64_t number = 0; number < kMost; ++number) {
        errno = EBADF;  // stale, and not what the log may show
        it::logged().clear();
        const int code = write_word(attached, number, RPMA_F_COMPLETION_ALWAYS);
        if (code != 0) {
            CHECK_CODE(code, RPMA_E_AGAIN);
            CHECK_EQ(errno, ENOMEM);
            it::expect_one_error({"ibv_post_send", "ENOMEM, errno 12", "full"});
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

// Nothing has been sent yet, so nothing can be full.
void an_unconnected_queue_is_no_full_one(it::Role& role, const it::Attached& attached) {
    const it::Connection connection = it::start(it::new_request(role, attached.peer.get()));
    it::logged().clear();
    CHECK_CODE(rpma_write(connection.get(), attached.remote.get(), 0, attached.local.mr(), 0, 8,
                          RPMA_F_COMPLETION_ALWAYS, nullptr),
               RPMA_E_PROVIDER);
    it::expect_one_error({"ibv_post_send of 8 bytes", "EINVAL, errno 22"});
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, 4096);
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, 4096);
    it::capture_log(RPMA_LOG_LEVEL_DEBUG);
    for (int round = 0; round < 3; ++round) {
        const std::uint64_t posted = fill_queue(attached);
        CHECK(posted >= kAtLeast);
        drain(attached, posted);
    }
    unsignalled_slots_come_back(attached);
    if (it::on_fabric()) {  // other devices may take it until they know better
        an_unconnected_queue_is_no_full_one(role, attached);
    }
    it::disconnect(attached.conn());
}
