// SPDX-License-Identifier: BSD-3-Clause
// The server is killed: "waiting" while the client waits for an event, "transfer" in the middle of
// large writes and a flush, "later" before the client's next write. The client learns of it in
// bounded time, no operation after the first failed one is reported as successful, and the log
// names the event, and the call and its errno where one is refused. A device may tell of the end by
// the event only, and try for ever what was posted (rdma_rxe does): disconnecting ends that.
#include <poll.h>

#include <array>
#include <csignal>

#include "common/log_capture.hpp"
#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kPiece = 1U << 20U;
constexpr std::uint64_t kPieces = 4;

void post_transfer(const it::Attached& attached) {
    for (std::uint64_t piece = 0; piece < kPieces; ++piece) {
        CHECK_OK(rpma_write(attached.conn(), attached.remote.get(), piece * kPiece,
                            attached.local.mr(), piece * kPiece, kPiece, RPMA_F_COMPLETION_ALWAYS,
                            it::context(piece)));
    }
    CHECK_OK(rpma_flush(attached.conn(), attached.remote.get(), 0, kPieces * kPiece,
                        RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS,
                        it::context(kPieces)));
}

// siw has other statuses for what a connection took along.
bool is_loss(ibv_wc_status status) {
    return status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_WR_FLUSH_ERR ||
           (!it::on_fabric() && status != IBV_WC_SUCCESS);
}

void expect_event_in_log() {
    CHECK(!it::logged().empty());
    const std::string& line = it::logged().back();
    CHECK(line.find(rpma_utils_conn_event_2str(RPMA_CONN_CLOSED)) != std::string::npos ||
          line.find(rpma_utils_conn_event_2str(RPMA_CONN_LOST)) != std::string::npos);
}

// The client's side of a connection whose other side dies.
class Dying {
public:
    explicit Dying(const it::Attached& attached) : attached_(attached) {}

    // Takes the event and disconnects; once.
    void end() {
        if (!ended_) {
            it::expect_closed_or_lost(attached_.conn());
            expect_event_in_log();
            CHECK_OK(rpma_conn_disconnect(attached_.conn()));
            ended_ = true;
        }
    }

    // Whichever comes first: the completion, or the end and then the completion.
    ibv_wc next_completion() {
        rpma_cq* const cq = it::main_cq(attached_.conn());
        const it::Deadline deadline;
        ibv_wc wc{};
        int code = rpma_cq_get_wc(cq, 1, &wc, nullptr);
        while (code == RPMA_E_NO_COMPLETION) {
            await_either(cq, deadline);
            code = rpma_cq_get_wc(cq, 1, &wc, nullptr);
        }
        CHECK_OK(code);
        return wc;
    }

private:
    void await_either(rpma_cq* cq, const it::Deadline& deadline) {
        std::array<pollfd, 2> fds = {pollfd{-1, POLLIN, 0}, pollfd{-1, POLLIN, 0}};
        CHECK_OK(rpma_cq_get_fd(cq, &fds[0].fd));
        CHECK_OK(rpma_conn_get_event_fd(attached_.conn(), &fds[1].fd));
        const nfds_t watched = ended_ ? 1 : 2;
        CHECK(poll(fds.data(), watched, deadline.remaining_ms()) > 0);
        if (fds[0].revents != 0) {
            CHECK_OK(rpma_cq_wait(cq));
        } else {
            end();
        }
    }

    const it::Attached& attached_;
    bool ended_ = false;
};

// Every operation completes once, in order. True: at least one failed.
bool collect_transfer(const it::Attached& attached, Dying& dying) {
    bool failed = false;
    for (std::uint64_t number = 0; number <= kPieces; ++number) {
        const ibv_wc wc = dying.next_completion();
        CHECK_EQ(wc.wr_id, number);
        CHECK(wc.status == IBV_WC_SUCCESS || is_loss(wc.status));
        CHECK(!failed || wc.status != IBV_WC_SUCCESS);
        failed = failed || wc.status != IBV_WC_SUCCESS;
    }
    it::expect_none(it::main_cq(attached.conn()));
    return failed;
}

// Transfers until the server is gone.
void transfer(it::Role& role, const it::Attached& attached, Dying& dying) {
    const it::Deadline deadline;
    role.peer().signal("transferring");
    for (bool failed = false; !failed; failed = collect_transfer(attached, dying)) {
        CHECK(!deadline.passed());
        post_transfer(attached);
    }
}

void write_after_death(it::Role& role, const it::Attached& attached, Dying& dying) {
    role.peer().signal("die");
    role.peer().await_end();
    const int code = rpma_write(attached.conn(), attached.remote.get(), 0, attached.local.mr(), 0,
                                8, RPMA_F_COMPLETION_ALWAYS, it::context(77));
    if (code == 0) {
        const ibv_wc wc = dying.next_completion();
        CHECK_EQ(wc.wr_id, 77);
        CHECK(is_loss(wc.status));
    } else {
        CHECK_CODE(code, RPMA_E_PROVIDER);
        it::expect_one_error({"ibv_post_send", "errno"});
    }
}

}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kPieces * kPiece);
    role.peer().await(role.has_argument("transfer") ? "transferring" : "die");
    if (role.has_argument("transfer")) {
        it::sleep_ms(100);
    }
    std::raise(SIGKILL);
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kPieces * kPiece);
    Dying dying(attached);
    it::capture_log(RPMA_LOG_LEVEL_NOTICE);
    if (role.has_argument("transfer")) {
        transfer(role, attached, dying);
    } else if (role.has_argument("later")) {
        write_after_death(role, attached, dying);
    } else {
        role.peer().signal("die");
    }
    dying.end();
}
